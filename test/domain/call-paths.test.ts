import { openOnClosedThread, restate } from '../../src/domain/call-machine';
import { deadlineOf, toolCallState } from '../../src/domain/call-state';
import { AGENT, blobOf, eventsOf, OUTPUT_MS, startWith, subjectOf, T0, WAIT_MS } from './fixtures';
import { Story } from './call-story';

const typesOf = (story: Story): string[] => story.events.map(({ type }) => type);
const decisionsOf = (story: Story) => eventsOf(story.events, 'hook_decision');

test('a call that no hook matches is allowed at once and asks nobody', () => {
  const story = new Story(startWith([]));
  expect(story.state).toMatchObject({
    n: 1,
    asked: 0,
    call: { status: 'allowed', input: subjectOf('original') },
  });
  expect(typesOf(story)).toEqual(['tool_call_started']);
  expect(deadlineOf(story.state)).toBe(T0 + OUTPUT_MS);
});

test('a gated call is parked until its deadline, under the title of its hook', () => {
  const story = new Story(startWith([{ client: { title: 'Moves money' } }]));
  expect(story.state).toMatchObject({
    call: { status: 'waiting', expiresAt: new Date(T0 + WAIT_MS).toISOString() },
    wait: { wait: { id: 'c1-w1', title: 'Moves money', requestedBy: AGENT, needed: 1, edited: false } },
  });
  expect(typesOf(story)).toEqual(['tool_call_started', 'wait_opened']);
  expect(new Story(startWith([{}])).state.wait?.wait.title).toBe('Allow t?');
});

test('allow: later hooks are not asked, and the audit is whole when the output comes', () => {
  const story = new Story(startWith([{}, {}]));
  story.now += 250;
  expect(story.answer('ann', { decision: 'allow', reason: 'fine' })).toMatchObject({ ok: true });
  expect(story.state).toMatchObject({ asked: 1, call: { status: 'allowed' } });
  expect(decisionsOf(story)).toEqual([
    {
      callId: 'c1',
      hookId: 'h0',
      index: 0,
      point: 'before_tool_call',
      processor: 'client',
      mode: 'enforce',
      outcome: 'answered',
      decision: 'allow',
      latencyMs: 250,
      reason: { code: 'allow', text: 'fine' },
      resolvedBy: ['ann'],
      profileVersion: 3,
      digestBefore: subjectOf('original').digest,
      digestAfter: subjectOf('original').digest,
    },
  ]);
  expect(story.report('output')).toEqual({ ok: true });
  expect(story.state.call).toMatchObject({ status: 'completed', output: blobOf('output') });
  expect(story.state.call.expiresAt).toBeUndefined();
  expect(typesOf(story)).toEqual([
    'tool_call_started',
    'wait_opened',
    'wait_resolved',
    'hook_decision',
    'tool_finished',
    'tool_call_finished',
  ]);
});

test('[S] sixteen hooks with a deny at the fifth leave five decisions', () => {
  const story = new Story(startWith(Array.from({ length: 16 }, () => ({}))));
  for (let index = 0; index < 4; index += 1) story.answer('ann', { decision: 'defer' });
  story.answer('ann', { decision: 'deny', reason: 'no' });
  expect(decisionsOf(story).map(({ hookId, decision }) => `${hookId} ${decision}`)).toEqual([
    'h0 defer',
    'h1 defer',
    'h2 defer',
    'h3 defer',
    'h4 deny',
  ]);
  expect(story.state).toMatchObject({ n: 6, asked: 5, waitsOpened: 5 });
  expect(story.state.call).toMatchObject({
    status: 'denied',
    denial: { by: 'human', hookId: 'h4', reason: { code: 'denied_by_person', text: 'no' }, executed: false },
  });
});

test('[S] when every hook defers the call goes on with what the edits composed', () => {
  const story = new Story(startWith([{}, {}, {}]));
  story.answer('ann', { decision: 'defer', rewrite: subjectOf('first') });
  expect(story.state).toMatchObject({
    call: { input: subjectOf('first') },
    wait: { wait: { id: 'c1-w2', subject: subjectOf('first'), edited: true, rewrote: false } },
  });
  expect(story.answer('bob', { decision: 'defer' })).toMatchObject({ refusal: { code: 'digest_required' } });
  story.answer('bob', { decision: 'defer', subjectDigest: story.seen });
  story.answer('cid', { decision: 'allow', rewrite: subjectOf('last'), subjectDigest: story.seen });
  expect(story.state.call).toMatchObject({ status: 'allowed', input: subjectOf('last') });
  expect(story.state.chain.rewrittenBy).toEqual(['h0', 'h2']);
  expect(decisionsOf(story).map(({ rewrote }) => rewrote)).toEqual([true, undefined, true]);
});

test('a deny after a voter’s edit withholds the edit too', () => {
  const story = new Story(startWith([{ client: { minApprovals: 2 } }]));
  story.answer('ann', { decision: 'allow', rewrite: subjectOf('edited'), subjectDigest: story.seen });
  expect(toolCallState(story.state).call.input).toEqual(subjectOf('edited'));
  story.answer('bob', { decision: 'deny' });
  expect(story.state.chain.rewrittenBy).toEqual([]);
  expect(decisionsOf(story)).toMatchObject([
    {
      decision: 'deny',
      digestBefore: subjectOf('original').digest,
      digestAfter: subjectOf('original').digest,
    },
  ]);
});

test('the clock: nothing happens before the deadline, and at it the hook’s onFailure applies', () => {
  const closed = new Story(startWith([{}]));
  expect(closed.tick(WAIT_MS - 1)).toBe(false);
  expect(closed.tick(1)).toBe(true);
  expect(closed.state.call).toMatchObject({
    status: 'denied',
    denial: { by: 'timeout', hookId: 'h0', reason: { code: 'approval_timeout' }, executed: false },
  });
  expect(decisionsOf(closed)).toMatchObject([{ outcome: 'timeout', decision: 'deny', latencyMs: WAIT_MS }]);
  expect(closed.tick(WAIT_MS)).toBe(false);

  const open = new Story(startWith([{ onFailure: 'fail_open' }, {}]));
  open.tick(WAIT_MS);
  expect(decisionsOf(open)).toMatchObject([{ outcome: 'timeout', decision: 'defer' }]);
  expect(open.state).toMatchObject({ call: { status: 'waiting' }, wait: { wait: { id: 'c1-w2' } } });
  expect(deadlineOf(open.state)).toBe(T0 + 2 * WAIT_MS);
});

test('an allowed call whose output never comes expires at its own deadline and is no denial', () => {
  const story = new Story(startWith([]));
  expect(story.tick(OUTPUT_MS - 1)).toBe(false);
  expect(story.tick(1)).toBe(true);
  expect(story.state.call.status).toBe('expired');
  expect(story.state.call.denial).toBeUndefined();
  expect(story.report('output')).toEqual({ ok: false, code: 'ended', status: 'expired' });
});

test('an output that comes at the deadline, before the timer did, finds the call expired', () => {
  const story = new Story(startWith([]));
  story.now += OUTPUT_MS;
  expect(story.report('output')).toEqual({ ok: false, code: 'ended', status: 'expired' });
  expect(story.state.call).toMatchObject({ status: 'expired' });
  expect(toolCallState(story.state).call.output).toBeUndefined();
  expect(eventsOf(story.events, 'tool_finished')).toEqual([]);
});

test('a failed tool leaves its error, and a second result changes nothing', () => {
  const story = new Story(startWith([]));
  expect(story.report('error')).toEqual({ ok: true });
  expect(story.state.call).toMatchObject({ status: 'failed', error: blobOf('error') });
  expect(story.report('output')).toEqual({ ok: false, code: 'ended', status: 'failed' });
  expect(story.steps).toHaveLength(2);
});

test('a parked or denied call takes no output', () => {
  const story = new Story(startWith([{}]));
  expect(story.report('output')).toEqual({ ok: false, code: 'not_decided', status: 'waiting' });
  story.answer('ann', { decision: 'deny' });
  expect(story.report('output')).toEqual({ ok: false, code: 'ended', status: 'denied' });
});

test.each([
  ['parked', [{}], { executed: false, hookId: 'h0' }, 1],
  ['parked under fail_open', [{ onFailure: 'fail_open' as const }, {}], { executed: false, hookId: 'h0' }, 1],
  ['allowed', [], { executed: 'unknown' }, 0],
])('a call that is given up while %s is cancelled and asks nobody more', (_, hooks, denial, decisions) => {
  const story = new Story(startWith(hooks));
  expect(story.cancel('thread_closed', 'eve')).toEqual({ ok: true });
  expect(story.state.call).toMatchObject({ status: 'cancelled' });
  expect(story.state.call.denial).toEqual({
    by: 'cancelled',
    reason: { code: 'thread_closed', text: 'given up by eve' },
    ...denial,
  });
  expect(story.isParked).toBe(false);
  expect(decisionsOf(story)).toHaveLength(decisions);
  expect(story.cancel()).toEqual({ ok: false, status: 'cancelled' });
});

test('an observing client hook parks nothing and records that it would ask', () => {
  const story = new Story(startWith([{ mode: 'observe' }, {}, { mode: 'observe' }]));
  expect(decisionsOf(story)).toMatchObject([
    { hookId: 'h0', mode: 'observe', decision: 'ask', outcome: 'answered', latencyMs: 0 },
  ]);
  expect(story.state.wait?.wait.hookId).toBe('h1');
  story.answer('ann', { decision: 'defer' });
  expect(decisionsOf(story).map(({ hookId, mode }) => `${hookId} ${mode}`)).toEqual([
    'h0 observe',
    'h1 enforce',
    'h2 observe',
  ]);
  expect(story.state.call.status).toBe('allowed');
});

test('a call whose thread was closed first is cancelled in its first step', () => {
  const { n, call, events, waits } = openOnClosedThread(startWith([{}]), T0);
  expect({ n, waits }).toEqual({ n: 1, waits: [] });
  expect(call).toMatchObject({ status: 'cancelled', denial: { by: 'cancelled', executed: false } });
  expect(events.map(({ type }) => type)).toEqual(['tool_call_started', 'tool_call_finished']);
});

test('restate says all of a state again: its number, waits and blobs, and no event', () => {
  const story = new Story(startWith([{ client: { minApprovals: 2 } }], { subject: blobOf('input') }));
  expect(restate(story.start, story.state)).toMatchObject({
    n: 1,
    state: story.state,
    events: [],
    keepBlobs: ['input'],
  });
  story.answer('ann', { decision: 'allow', subjectDigest: story.seen });
  expect(restate(story.start, story.state)).toMatchObject({
    n: 2,
    waits: [story.state.wait],
    call: story.state.call,
  });
  story.answer('bob', { decision: 'allow', subjectDigest: story.seen });
  story.report('output');
  const { events, keepBlobs } = restate(story.start, story.state);
  expect(events).toEqual([]);
  expect(new Set(keepBlobs)).toEqual(new Set(['input', 'output']));
});
