import fc from 'fast-check';
import { inlineSubject } from '../../src/domain/subject';
import { answerWait, cancelWait, expireWait, type Wait, type WaitAnswer } from '../../src/domain/wait';

const subjectOf = (value: number) => inlineSubject({ point: 'before_tool_call', tool: 't', value });

const openWait = (change: Partial<Wait> = {}): Wait => ({
  id: 'w',
  hookId: 'h',
  index: 0,
  point: 'before_tool_call',
  kind: 'client',
  title: 't',
  subject: subjectOf(1),
  openedAt: 0,
  expiresAt: 1_000,
  needed: 1,
  allowSelfApproval: false,
  requestedBy: 'agent',
  edited: false,
  rewrote: false,
  votes: [],
  ...change,
});

const by = (owner: string) => ({ owner, scopes: ['waits:resolve' as const] });

test('W2: every answer at or past the deadline is refused, and every one before it is not', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -500, max: 500 }),
      fc.constantFrom('allow' as const, 'deny' as const),
      (offset, decision) => {
        const step = answerWait(openWait(), {
          answer: { decision },
          principal: by('ann'),
          now: 1_000 + offset,
        });
        expect(step.kind).toBe(offset < 0 ? 'resolved' : 'refused');
      },
    ),
  );
});

interface Act {
  readonly owner: string;
  readonly answer: WaitAnswer;
  readonly now: number;
}
const act: fc.Arbitrary<Act> = fc.record({
  owner: fc.constantFrom('a', 'b', 'c', 'agent'),
  answer: fc
    .record(
      {
        decision: fc.constantFrom('allow' as const, 'deny' as const, 'defer' as const),
        rewrite: fc.integer({ min: 0, max: 2 }).map(subjectOf),
        subjectDigest: fc.integer({ min: 0, max: 2 }).map((value) => subjectOf(value).digest),
      },
      { requiredKeys: ['decision'] },
    )
    .map(({ decision, rewrite, subjectDigest }) => ({
      decision,
      ...(rewrite !== undefined && decision !== 'deny' && { rewrite }),
      ...(subjectDigest !== undefined && { subjectDigest }),
    })),
  now: fc.integer({ min: 0, max: 1_100 }),
});

test('W1, W3–W6 hold over any sequence of answers', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 20 }), fc.integer({ min: 1, max: 3 }), (acts, needed) => {
      let wait = openWait({ needed });
      for (const { owner, answer, now } of acts) {
        const before = wait;
        const step = answerWait(before, { answer, principal: by(owner), now });
        if (before.outcome !== undefined) expect(step.kind).toBe('refused');
        if (step.kind === 'refused') continue;
        expect(owner).not.toBe('agent');
        expect(now).toBeLessThan(before.expiresAt);
        if (answer.decision !== 'deny' && (needed > 1 || before.edited)) {
          expect(answer.subjectDigest).toBe(before.subject.digest);
        }
        if (answer.decision === 'deny') expect(step.kind).toBe('resolved');
        wait = step.wait;
        expect(new Set(wait.votes.map((vote) => vote.owner)).size).toBe(wait.votes.length);
        if (answer.rewrite) expect(wait.votes.map((vote) => vote.owner)).toEqual([owner]);
        const outcome = wait.outcome;
        if (outcome?.kind === 'answered' && outcome.decision === 'allow')
          expect(outcome.by).toHaveLength(needed);
      }
    }),
    { numRuns: 500 },
  );
});

test('a time-out and a cancellation never change an outcome that is there', () => {
  const step = answerWait(openWait(), { answer: { decision: 'allow' }, principal: by('ann'), now: 1 });
  if (step.kind !== 'resolved') throw new Error('it resolves');
  expect(expireWait(step.wait, 2_000)).toBe(step.wait);
  expect(cancelWait(step.wait, { by: 'x', code: 'c', now: 2 })).toBe(step.wait);
  expect(expireWait(openWait(), 999).outcome).toBeUndefined();
  expect(expireWait(openWait(), 1_000).outcome).toMatchObject({ kind: 'timeout' });
});
