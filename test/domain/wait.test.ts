import fc from 'fast-check';
import {
  answerWait,
  cancelWait,
  expireWait,
  refuseOperator,
  type Wait,
  type WaitAnswer,
  type WaitStep,
} from '../../src/domain/wait';
import { TEMPORAL_OPERATOR, type Principal } from '../../src/domain/principal';
import { person, subjectOf } from './fixtures';
import { openWait } from './wait-fixtures';

const SEEN = { subjectDigest: subjectOf(0).digest };

const ask = (wait: Wait, principal: Principal, answer: WaitAnswer, now = 0): WaitStep =>
  answerWait(wait, { answer, principal, now });

const codeOf = (step: WaitStep): string => (step.kind === 'refused' ? step.refusal.code : step.kind);

test.each([
  [-1, 'resolved'],
  [0, 'expired'],
  [1, 'expired'],
])('W2: an answer at the deadline %i ms is %s', (offset, expected) => {
  for (const decision of ['allow', 'deny', 'defer'] as const) {
    expect(codeOf(ask(openWait(), person('ann'), { decision }, openWait().expiresAt + offset))).toBe(
      expected,
    );
  }
});

test('W2: only the given clock decides, whenever the answer comes', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -2_000, max: 2_000 }),
      fc.constantFrom('allow', 'deny', 'defer'),
      (offset, decision) => {
        const { expiresAt } = openWait();
        const step = ask(openWait(), person('ann'), { decision }, expiresAt + offset);
        expect(step.kind).toBe(offset < 0 ? 'resolved' : 'refused');
        expect(expireWait(openWait(), expiresAt + offset).outcome?.kind).toBe(
          offset < 0 ? undefined : 'timeout',
        );
      },
    ),
  );
});

test('W4: two keys of one owner are one vote', () => {
  const first = ask(openWait({ needed: 2 }), person('ann', 'waits:resolve'), { decision: 'allow', ...SEEN });
  if (first.kind !== 'voted') throw new Error(codeOf(first));
  expect(first).toMatchObject({ counted: 1, isNew: true });
  const again = ask(first.wait, person('ann', 'admin'), { decision: 'allow', ...SEEN });
  expect(again).toMatchObject({ kind: 'voted', counted: 1, isNew: false });
  const second = ask(first.wait, person('bob'), { decision: 'allow', ...SEEN }, 7);
  expect(second).toMatchObject({
    kind: 'resolved',
    wait: { outcome: { kind: 'answered', decision: 'allow', by: ['ann', 'bob'], at: 7 } },
  });
});

test('W3: an edit starts the count anew with its editor’s vote, also when it puts the same value', () => {
  const wait = openWait({
    needed: 3,
    votes: [
      { owner: 'ann', at: 0 },
      { owner: 'bob', at: 0 },
    ],
  });
  for (const value of [0, 5]) {
    const step = ask(wait, person('bob'), { decision: 'allow', rewrite: subjectOf(value), ...SEEN }, 9);
    expect(step).toMatchObject({
      kind: 'voted',
      counted: 1,
      isNew: true,
      wait: { subject: subjectOf(value), edited: true, rewrote: true, votes: [{ owner: 'bob', at: 9 }] },
    });
  }
});

test('W3: a vote for the value before an edit does not count for the edited one', () => {
  const edited = ask(openWait({ needed: 2 }), person('ann'), {
    decision: 'allow',
    rewrite: subjectOf(5),
    ...SEEN,
  });
  if (edited.kind !== 'voted') throw new Error(codeOf(edited));
  expect(ask(edited.wait, person('bob'), { decision: 'allow', ...SEEN })).toEqual({
    kind: 'refused',
    refusal: { code: 'digest_mismatch', subjectDigest: subjectOf(5).digest },
  });
});

test('W5: one deny ends the wait whatever the quorum, and only the denier is named', () => {
  const wait = openWait({
    needed: 3,
    votes: [
      { owner: 'ann', at: 0 },
      { owner: 'bob', at: 0 },
    ],
  });
  expect(ask(wait, person('cid'), { decision: 'deny', reason: 'no' }, 4)).toMatchObject({
    kind: 'resolved',
    wait: {
      outcome: { kind: 'answered', decision: 'deny', by: ['cid'], reason: 'no', at: 4 },
      rewrote: false,
    },
  });
});

test.each([
  ['one approval, unedited', openWait(), undefined, 'resolved'],
  ['a quorum', openWait({ needed: 2 }), undefined, 'digest_required'],
  ['an earlier edit', openWait({ edited: true }), undefined, 'digest_required'],
  ['the digest of another value', openWait(), subjectOf(1).digest, 'digest_mismatch'],
  ['an empty digest', openWait(), '', 'digest_mismatch'],
  ['the digest of the value', openWait({ needed: 1, edited: true }), subjectOf(0).digest, 'resolved'],
])('W6: an allow under %s', (_, wait, subjectDigest, expected) => {
  const answer: WaitAnswer = { decision: 'allow', ...(subjectDigest !== undefined && { subjectDigest }) };
  expect(codeOf(ask(wait, person('ann'), answer))).toBe(expected);
});

test('W6: a deny needs no digest, and is refused when it names another value', () => {
  const wait = openWait({ needed: 2, edited: true });
  expect(codeOf(ask(wait, person('ann'), { decision: 'deny' }))).toBe('resolved');
  expect(codeOf(ask(wait, person('ann'), { decision: 'deny', subjectDigest: 'x' }))).toBe('digest_mismatch');
});

test('W6: a defer after an edit names the digest too, for it lets the value through', () => {
  expect(codeOf(ask(openWait({ edited: true }), person('ann'), { decision: 'defer' }))).toBe(
    'digest_required',
  );
});

test('one person’s defer does not carry the work past a quorum', () => {
  expect(codeOf(ask(openWait({ needed: 2 }), person('ann'), { decision: 'defer', ...SEEN }))).toBe(
    'defer_skips_quorum',
  );
  expect(ask(openWait(), person('ann'), { decision: 'defer', rewrite: subjectOf(3) })).toMatchObject({
    kind: 'resolved',
    wait: { subject: subjectOf(3), rewrote: true, outcome: { decision: 'defer', by: ['ann'] } },
  });
});

test('who asked for the call answers its wait only where the hook allows it', () => {
  for (const decision of ['allow', 'deny', 'defer'] as const) {
    expect(codeOf(ask(openWait(), person('agent', 'admin'), { decision }))).toBe('own_call');
    expect(codeOf(ask(openWait({ allowSelfApproval: true }), person('agent'), { decision }))).toBe(
      'resolved',
    );
  }
});

test.each([
  ['a named owner', ['ann'], person('ann'), 'resolved'],
  ['another owner', ['ann'], person('Ann'), 'not_an_approver'],
  ['an owner named like a scope', ['scope:admin'], person('scope:admin'), 'not_an_approver'],
  ['a scope that is held', ['scope:waits:resolve'], person('bob', 'waits:resolve'), 'resolved'],
  ['a scope that is not held', ['scope:profiles'], person('bob', 'waits:resolve'), 'not_an_approver'],
  ['admin where another scope is named', ['scope:profiles'], person('bob', 'admin'), 'not_an_approver'],
  ['one of several entries', ['ann', 'scope:admin'], person('bob', 'admin'), 'resolved'],
  ['the operator who is not named', ['ann'], TEMPORAL_OPERATOR, 'not_an_approver'],
  ['the operator who is named', ['temporal-operator'], TEMPORAL_OPERATOR, 'resolved'],
])('approvers: %s', (_, approvers, principal, expected) => {
  expect(codeOf(ask(openWait({ approvers }), principal, { decision: 'allow' }))).toBe(expected);
});

test('an approver who asked for the call is still refused', () => {
  expect(codeOf(ask(openWait({ approvers: ['agent'] }), person('agent'), { decision: 'deny' }))).toBe(
    'own_call',
  );
});

test('who may not answer learns nothing of the outcome', () => {
  const done = cancelWait(openWait({ approvers: ['ann'] }), { by: 'x', code: 'c', now: 1 });
  expect(codeOf(ask(done, person('eve'), { decision: 'allow' }))).toBe('not_an_approver');
  expect(codeOf(ask(done, person('ann'), { decision: 'allow' }))).toBe('cancelled');
});

test('the operator’s signal is refused where the tenant turned it off, and nobody else is', () => {
  expect(refuseOperator(TEMPORAL_OPERATOR, false)).toEqual({ code: 'operator_signal_off' });
  expect(refuseOperator(TEMPORAL_OPERATOR, true)).toBeUndefined();
  expect(refuseOperator(person('ann'), false)).toBeUndefined();
});

test('W1: no answer, time-out or cancellation changes an outcome that is there', () => {
  const resolved = ask(openWait(), person('ann'), { decision: 'allow' });
  if (resolved.kind !== 'resolved') throw new Error(codeOf(resolved));
  const expired = expireWait(openWait(), openWait().expiresAt);
  const cancelled = cancelWait(openWait(), { by: 'x', code: 'c', now: 3 });
  for (const [wait, code] of [
    [resolved.wait, 'already_resolved'],
    [expired, 'expired'],
    [cancelled, 'cancelled'],
  ] as const) {
    expect(codeOf(ask(wait, person('bob'), { decision: 'deny' }))).toBe(code);
    expect(expireWait(wait, 10_000)).toBe(wait);
    expect(cancelWait(wait, { by: 'y', code: 'd', now: 5 })).toBe(wait);
  }
  expect(cancelled.outcome).toEqual({ kind: 'cancelled', by: 'x', code: 'c', at: 3 });
});
