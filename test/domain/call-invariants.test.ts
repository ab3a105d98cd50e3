import fc from 'fast-check';
import { concludeChain } from '../../src/domain/hook-chain';
import { isOpen } from '../../src/domain/call';
import { openCall, restate, tickCall } from '../../src/domain/call-machine';
import { deadlineOf, openWaitOf, toolCallState } from '../../src/domain/call-state';
import {
  eventsOf,
  OUTPUT_MS,
  startWith,
  subjectOf,
  T0,
  throughJson,
  WAIT_MS,
  type HookWish,
} from './fixtures';
import { Story } from './call-story';

type Act = (story: Story) => unknown;

const hook = fc
  .record({
    mode: fc.constantFrom('enforce' as const, 'enforce' as const, 'observe' as const),
    onFailure: fc.constantFrom('fail_closed' as const, 'fail_open' as const),
    minApprovals: fc.constantFrom(1, 1, 1, 2),
    allowSelfApproval: fc.boolean(),
  })
  .map<HookWish>(({ mode, onFailure, ...client }) => ({ mode, onFailure, client }));
const hooks = fc.array(hook, { maxLength: 16 });

const answer: fc.Arbitrary<Act> = fc
  .record({
    owner: fc.constantFrom('ann', 'bob', 'agent'),
    decision: fc.constantFrom(
      'defer' as const,
      'defer' as const,
      'allow' as const,
      'allow' as const,
      'deny' as const,
    ),
    edit: fc.option(fc.nat(3), { nil: undefined, freq: 2 }),
    knows: fc.constantFrom(true, true, true, false),
    answerId: fc.option(fc.constantFrom('x', 'y'), { nil: undefined, freq: 3 }),
  })
  .map(({ owner, decision, edit, knows, answerId }) => (story: Story) => {
    const said = {
      decision,
      ...(edit !== undefined && decision !== 'deny' && { rewrite: subjectOf(edit) }),
      ...(knows && { subjectDigest: story.seen }),
    };
    return story.answer(owner, said, answerId === undefined ? {} : { answerId });
  });
const act = fc.oneof(
  { weight: 10, arbitrary: answer },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(1, OUTPUT_MS, WAIT_MS - 1, WAIT_MS)
      .map<Act>((ms) => (story) => story.tick(ms)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Act>(
      (story) => story.report('output'),
      (story) => story.report('error'),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Act>((story) => story.cancel()) },
);
const acts = fc.array(act, { maxLength: 30 });

const everyStory = (check: (story: Story) => void): void => {
  fc.assert(
    fc.property(hooks, acts, (wanted, list) => {
      const story = new Story(startWith(wanted));
      for (const each of list) each(story);
      check(story);
    }),
    { numRuns: 400 },
  );
};

/** The last state before the tool's result was reported: the chain is the input's until then. */
const beforeTool = ({ steps, state }: Story): Story['state'] =>
  steps.findLast((step) => step.state.reported === undefined)?.state ?? state;

test('on every path each asked hook has exactly one hook_decision, in order, and no other hook has any', () => {
  everyStory((story) => {
    const decisions = eventsOf(story.events, 'hook_decision').map(({ index }) => index);
    const parked = story.isParked ? 1 : 0;
    const asked = Array.from({ length: beforeTool(story).asked - parked }, (_, index) => index);
    expect(decisions).toEqual(asked);
    expect(eventsOf(story.events, 'wait_resolved')).toHaveLength(story.state.waitsOpened - parked);
    expect(eventsOf(story.events, 'wait_opened')).toHaveLength(story.state.waitsOpened);
  });
});

test('on every path each step has the next number and carries the state it leads to', () => {
  everyStory((story) => {
    story.steps.forEach((step, index) => {
      expect(step.n).toBe(index + 1);
      expect(step.state.n).toBe(step.n);
      expect(step.call).toBe(step.state.call);
      if (step.state.wait !== undefined && step.waits.length > 0)
        expect(step.waits).toContain(step.state.wait);
    });
  });
});

test('on every path a wait is open exactly while the call waits, and the deadline is the one that is shown', () => {
  everyStory((story) => {
    for (const { state } of story.steps) {
      expect(openWaitOf(state) !== undefined).toBe(state.call.status === 'waiting');
      const shown = state.call.expiresAt;
      expect(deadlineOf(state)).toBe(shown === undefined ? undefined : Date.parse(shown));
      expect(shown !== undefined).toBe(isOpen(state.call.status));
    }
  });
});

test('on every path a call ends once: one tool_call_finished, and no step after it', () => {
  everyStory((story) => {
    const ends = story.steps.filter(({ call }) => !isOpen(call.status));
    expect(ends.length).toBeLessThanOrEqual(1);
    expect(eventsOf(story.events, 'tool_call_finished')).toHaveLength(ends.length);
    if (ends.length === 1) expect(story.steps.at(-1)).toBe(ends[0]);
  });
});

test('a denied tool never runs: no path leads from a denial to allowed, and what is allowed is what was composed', () => {
  everyStory((story) => {
    const denied = eventsOf(story.events, 'hook_decision').some(
      ({ decision, mode }) => decision === 'deny' && mode === 'enforce',
    );
    const { status, denial, input } = toolCallState(story.state).call;
    if (denied) {
      expect(['denied', 'cancelled']).toContain(status);
      expect(denial?.executed).toBe(false);
    } else {
      expect(status).not.toBe('denied');
    }
    if (status !== 'waiting' && !denied) {
      const { chain } = beforeTool(story);
      expect(concludeChain(chain).kind).toBe('allow');
      expect(input).toEqual(chain.subject);
    }
    if (status === 'denied') expect(['human', 'timeout']).toContain(denial?.by);
    if (status === 'cancelled') expect(denial?.by).toBe('cancelled');
  });
});

test('a state that went through JSON between every two inputs behaves as if it never had', () => {
  fc.assert(
    fc.property(hooks, acts, (wanted, list) => {
      const start = startWith(wanted);
      const kept = new Story(start);
      const stored = new Story(throughJson(start), T0, throughJson);
      for (const each of list) expect(each(stored)).toEqual(each(kept));
      expect(stored.steps).toEqual(kept.steps);
      for (const { state } of kept.steps) expect(throughJson(state)).toStrictEqual(state);
    }),
    { numRuns: 200 },
  );
});

test('opening a call depends on nothing but its start and the clock', () => {
  fc.assert(
    fc.property(hooks, fc.integer({ min: 0, max: 2 ** 41 }), (wanted, now) => {
      const before = JSON.stringify(startWith(wanted));
      const start = startWith(wanted);
      expect(openCall(start, now)).toStrictEqual(openCall(startWith(wanted), now));
      expect(JSON.stringify(start)).toBe(before);
    }),
    { numRuns: 200 },
  );
});

test('restate adds no event and keeps number and state, wherever a call stands', () => {
  everyStory(({ start, state }) => {
    expect(restate(start, state)).toMatchObject({ n: state.n, events: [], call: state.call });
    expect(restate(start, state).state).toBe(state);
    expect(restate(start, state).waits).toEqual(state.wait === undefined ? [] : [state.wait]);
  });
});

test('the clock alone never lets a fail_closed wait through, however it jumps', () => {
  fc.assert(
    fc.property(
      hooks,
      fc.array(fc.integer({ min: 0, max: 3 * WAIT_MS }), { maxLength: 20 }),
      (wanted, jumps) => {
        const story = new Story(startWith(wanted));
        for (const ms of jumps) story.tick(ms);
        const gated = wanted.some(({ mode, onFailure }) => mode === 'enforce' && onFailure === 'fail_closed');
        if (gated) expect(['waiting', 'denied']).toContain(story.state.call.status);
        expect(tickCall(story.start, story.state, (deadlineOf(story.state) ?? 0) - 1)).toBeUndefined();
      },
    ),
    { numRuns: 200 },
  );
});
