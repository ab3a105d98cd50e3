import fc from 'fast-check';
import type { Scope } from '../../src/domain/principal';
import { answerWait, cancelWait, expireWait, type Wait, type WaitAnswer } from '../../src/domain/wait';
import { AGENT, subjectOf } from './fixtures';
import { openWait } from './wait-fixtures';

/** What the contract says of a wait, with plain values instead of subjects and digests. */
interface Model {
  readonly needed: number;
  readonly approvers: readonly string[] | undefined;
  readonly allowSelfApproval: boolean;
  value: number;
  edited: boolean;
  voters: Set<string>;
  ended?: string;
}

interface Real {
  wait: Wait;
}

const digestOf = (value: number): string => subjectOf(value).digest;

class Answer implements fc.Command<Model, Real> {
  constructor(
    readonly owner: string,
    readonly scopes: readonly Scope[],
    readonly decision: 'allow' | 'deny' | 'defer',
    readonly edit: number | undefined,
    /** The value that the resolver saw. */
    readonly saw: number | 'current' | undefined,
    readonly now: number,
  ) {}

  check(): boolean {
    return true;
  }

  run(model: Model, real: Real): void {
    const saw = this.saw === 'current' ? model.value : this.saw;
    const answer: WaitAnswer = {
      decision: this.decision,
      ...(this.edit !== undefined && this.decision !== 'deny' && { rewrite: subjectOf(this.edit) }),
      ...(saw !== undefined && { subjectDigest: digestOf(saw) }),
    };
    const before = real.wait;
    const principal = { owner: this.owner, scopes: this.scopes };
    const step = answerWait(before, { answer, principal, now: this.now });
    expect(step.kind === 'refused' ? step.refusal.code : step.kind).toBe(this.expected(model, saw));
    if (step.kind === 'refused') return;
    real.wait = step.wait;
    expect(step.wait.subject).toEqual(subjectOf(model.value));
    expect(step.wait.edited).toBe(model.edited);
    if (this.decision !== 'deny') {
      expect(step.wait.votes.map(({ owner }) => owner)).toEqual([...model.voters]);
    }
    if (step.kind === 'resolved') {
      const by = this.decision === 'deny' ? [this.owner] : [...model.voters];
      expect(step.wait.outcome).toEqual({ kind: 'answered', decision: this.decision, by, at: this.now });
    }
  }

  /** Says what must come of it and brings the model there. */
  private expected(model: Model, saw: number | undefined): string {
    const named = model.approvers?.some(
      (entry) => entry === this.owner || this.scopes.some((scope) => entry === `scope:${scope}`),
    );
    if (named === false) return 'not_an_approver';
    if (this.owner === AGENT && !model.allowSelfApproval) return 'own_call';
    if (model.ended !== undefined) return model.ended;
    if (this.now >= 1_000) return 'expired';
    if (saw !== undefined && saw !== model.value) return 'digest_mismatch';
    if (this.decision !== 'deny') {
      if (this.decision === 'defer' && model.needed > 1) return 'defer_skips_quorum';
      if (saw === undefined && (model.needed > 1 || model.edited)) return 'digest_required';
      if (this.edit !== undefined) {
        model.value = this.edit;
        model.edited = true;
        model.voters = new Set();
      }
      model.voters.add(this.owner);
      if (model.voters.size < model.needed) return 'voted';
    }
    model.ended = 'already_resolved';
    return 'resolved';
  }

  toString(): string {
    return `${this.owner} ${this.decision} edit=${this.edit} saw=${this.saw} at ${this.now}`;
  }
}

class Clock implements fc.Command<Model, Real> {
  constructor(readonly now: number) {}

  check(): boolean {
    return true;
  }

  run(model: Model, real: Real): void {
    const before = real.wait;
    real.wait = expireWait(before, this.now);
    if (model.ended !== undefined || this.now < 1_000) return expect(real.wait).toBe(before);
    model.ended = 'expired';
    expect(real.wait).toEqual({ ...before, outcome: { kind: 'timeout', at: this.now } });
  }

  toString(): string {
    return `clock ${this.now}`;
  }
}

class Cancel implements fc.Command<Model, Real> {
  check(): boolean {
    return true;
  }

  run(model: Model, real: Real): void {
    const before = real.wait;
    real.wait = cancelWait(before, { by: 'x', code: 'thread_closed', now: 5 });
    if (model.ended !== undefined) return expect(real.wait).toBe(before);
    model.ended = 'cancelled';
    expect(real.wait.outcome).toEqual({ kind: 'cancelled', by: 'x', code: 'thread_closed', at: 5 });
  }

  toString(): string {
    return 'cancel';
  }
}

const now = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 998 }) },
  { weight: 1, arbitrary: fc.constantFrom(999, 1_000, 1_001) },
);
const value = fc.nat(2);
const answers = fc
  .tuple(
    fc.constantFrom('ann', 'bob', 'cid', AGENT),
    fc.constantFrom<readonly Scope[]>(['waits:resolve'], ['admin'], ['waits:resolve', 'read']),
    fc.constantFrom('allow' as const, 'allow' as const, 'allow' as const, 'defer' as const, 'deny' as const),
    fc.option(value, { nil: undefined, freq: 3 }),
    fc.oneof(fc.constant('current' as const), fc.constant('current' as const), value, fc.constant(undefined)),
    now,
  )
  .map((wanted) => new Answer(...wanted));
const commands = fc.commands(
  [answers, answers, answers, answers, answers, now.map((at) => new Clock(at)), fc.constant(new Cancel())],
  { maxCommands: 30 },
);

test('W1–W6 hold over any sequence of answers, edits, clocks and cancellations, as in the model', () => {
  fc.assert(
    fc.property(
      commands,
      fc.integer({ min: 1, max: 3 }),
      fc.option(fc.constantFrom(['ann', 'bob'], ['scope:admin'], [AGENT, 'ann', 'scope:read']), {
        nil: undefined,
      }),
      fc.boolean(),
      (sequence, needed, approvers, allowSelfApproval) => {
        const setup = (): { model: Model; real: Real } => ({
          model: { needed, approvers, allowSelfApproval, value: 0, edited: false, voters: new Set() },
          real: {
            wait: openWait({ needed, allowSelfApproval, ...(approvers !== undefined && { approvers }) }),
          },
        });
        fc.modelRun(setup, sequence);
      },
    ),
    { numRuns: 1_000 },
  );
});
