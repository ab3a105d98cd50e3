import { TEMPORAL_OPERATOR } from '../../src/domain/principal';
import { eventsOf, startWith, subjectOf, WAIT_MS } from './fixtures';
import { Story } from './call-story';

const quorum = (): Story => new Story(startWith([{ client: { minApprovals: 2 } }, {}]));

test('a repeated answer is told what it was told first, whatever has happened since', () => {
  const story = quorum();
  const vote = { decision: 'allow', subjectDigest: story.seen } as const;
  const first = story.answer('ann', vote, { answerId: 'a', answerDigest: 'd' });
  expect(first).toMatchObject({ ok: true, result: { kind: 'counted', counted: 1, needed: 2 } });
  const resolved = story.answer('bob', vote, { answerId: 'b', answerDigest: 'd', waitId: 'c1-w1' });
  expect(resolved).toMatchObject({ ok: true, result: { kind: 'resolved', outcome: { by: ['ann', 'bob'] } } });
  const steps = story.steps.length;
  expect(story.answer('ann', vote, { answerId: 'a', answerDigest: 'd' })).toEqual(first);
  story.now += 10 * WAIT_MS;
  expect(story.answer('bob', vote, { answerId: 'b', answerDigest: 'd' })).toEqual(resolved);
  expect(story.steps).toHaveLength(steps);
});

test('another answer under a known id is refused, also when it would be a deny', () => {
  const story = quorum();
  story.answer('ann', { decision: 'allow', subjectDigest: story.seen }, { answerId: 'a' });
  expect(story.answer('ann', { decision: 'deny' }, { answerId: 'a' })).toEqual({
    ok: false,
    refusal: { code: 'answer_id_reused' },
  });
  expect(story.isParked).toBe(true);
});

test('a refused answer leaves no trace: its id may be used again', () => {
  const story = quorum();
  expect(story.answer('ann', { decision: 'allow', subjectDigest: 'stale' }, { answerId: 'a' }).ok).toBe(
    false,
  );
  expect(story.steps).toHaveLength(1);
  expect(story.answer('ann', { decision: 'allow', subjectDigest: story.seen }, { answerId: 'a' }).ok).toBe(
    true,
  );
});

test('a wait that is not, or no longer, the call’s present one is unknown', () => {
  const story = new Story(startWith([{}, {}]));
  expect(story.answer('ann', { decision: 'deny' }, { waitId: 'c1-w2' })).toEqual({
    ok: false,
    refusal: { code: 'unknown_wait' },
  });
  story.answer('ann', { decision: 'defer' });
  expect(story.answer('ann', { decision: 'deny' }, { waitId: 'c1-w1' })).toEqual({
    ok: false,
    refusal: { code: 'unknown_wait' },
  });
  expect(new Story(startWith([])).answer('ann', { decision: 'deny' }, { waitId: 'none' }).ok).toBe(false);
});

test('a second vote of one owner adds neither a vote nor an event', () => {
  const story = quorum();
  const vote = { decision: 'allow', subjectDigest: story.seen } as const;
  story.answer('ann', vote);
  expect(story.answer('ann', vote)).toMatchObject({ ok: true, result: { kind: 'counted', counted: 1 } });
  expect(eventsOf(story.events, 'wait_vote')).toHaveLength(1);
});

test('a vote is audited with its voter and count, and an edit as one', () => {
  const story = quorum();
  const original = story.seen;
  story.answer('ann', { decision: 'allow', subjectDigest: original });
  story.answer('bob', { decision: 'allow', subjectDigest: original, rewrite: subjectOf('edited') });
  story.answer('ann', { decision: 'allow', subjectDigest: story.seen });
  const common = { callId: 'c1', waitId: 'c1-w1', hookId: 'h0', needed: 2, counted: 1 };
  expect(eventsOf(story.events, 'wait_vote')).toEqual([
    { ...common, by: 'ann', subjectDigest: original },
    { ...common, by: 'bob', subjectDigest: subjectOf('edited').digest, rewrote: true },
  ]);
  expect(eventsOf(story.events, 'wait_resolved')).toEqual([
    {
      callId: 'c1',
      waitId: 'c1-w1',
      hookId: 'h0',
      outcome: 'answered',
      decision: 'allow',
      by: ['bob', 'ann'],
      subjectDigest: subjectOf('edited').digest,
      rewrote: true,
    },
  ]);
  expect(story.state.call).toMatchObject({ status: 'allowed', input: subjectOf('edited') });
});

test('an answer at the deadline ends the wait by the clock, and its sender is told so', () => {
  const story = new Story(startWith([{}]));
  story.now += WAIT_MS;
  expect(story.answer('ann', { decision: 'allow' })).toEqual({ ok: false, refusal: { code: 'expired' } });
  expect(story.state.call).toMatchObject({ status: 'denied', denial: { by: 'timeout' } });
  expect(eventsOf(story.events, 'wait_resolved')).toMatchObject([{ outcome: 'timeout', by: [] }]);
  expect(story.answer('ann', { decision: 'allow' })).toEqual({ ok: false, refusal: { code: 'expired' } });
  expect(story.steps).toHaveLength(2);
});

test('whoever may not answer does not even move the clock', () => {
  const story = new Story(startWith([{ client: { approvers: ['ann'] } }]));
  story.now += WAIT_MS;
  expect(story.answer('eve', { decision: 'allow' })).toEqual({
    ok: false,
    refusal: { code: 'not_an_approver' },
  });
  expect(story.steps).toHaveLength(1);
});

test('the one who asked for the call cannot let it through, nor the operator where signals are off', () => {
  const story = new Story(startWith([{}], { operatorSignal: false }));
  expect(story.answer('agent', { decision: 'allow' })).toMatchObject({ refusal: { code: 'own_call' } });
  const operator = story.answer('-', { decision: 'allow' }, { principal: TEMPORAL_OPERATOR });
  expect(operator).toMatchObject({ refusal: { code: 'operator_signal_off' } });
  expect(story.isParked).toBe(true);
});

test('one winner: of two answers to one wait the second is told the first one’s outcome', () => {
  const story = new Story(startWith([{}]));
  story.answer('ann', { decision: 'deny' });
  expect(story.answer('bob', { decision: 'allow' })).toMatchObject({
    ok: false,
    refusal: { code: 'already_resolved', outcome: { decision: 'deny', by: ['ann'] } },
  });
  expect(story.state.call.status).toBe('denied');
});
