import { judgeOfHook } from '../../src/domain/judge';
import fc from 'fast-check';
import {
  applyAnswer,
  concludeChain,
  effectiveDecision,
  startChain,
  type ChainState,
  type ProcessorAnswer,
} from '../../src/domain/hook-chain';
import { placedHook, subjectOf, type HookWish } from './fixtures';

type Round = readonly [HookWish, ProcessorAnswer];

const FAILURES = ['timeout', 'invalid', 'unreachable', 'nested_agent'] as const;

const wish = fc.record<HookWish>({
  onFailure: fc.constantFrom('fail_closed', 'fail_open'),
  mode: fc.constantFrom('enforce', 'enforce', 'observe'),
});
const rewrite = fc.option(fc.nat(1_000).map(subjectOf), { nil: undefined });
const failure = fc.constantFrom(...FAILURES).map(failed);
const cancelled: ProcessorAnswer = { outcome: 'cancelled', reason: { code: 'gone' }, resolvedBy: ['x'] };
const answer: fc.Arbitrary<ProcessorAnswer> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom('allow' as const, 'defer' as const, 'defer' as const, 'defer' as const), rewrite)
      .map(([decision, value]) => answered(decision, value)),
  },
  { weight: 1, arbitrary: fc.constant(answered('deny')) },
  { weight: 2, arbitrary: failure },
  { weight: 1, arbitrary: fc.constant(cancelled) },
);
const rounds = fc.array(fc.tuple(wish, answer), { maxLength: 16 });

function answered(
  decision: 'allow' | 'deny' | 'defer',
  value?: ReturnType<typeof subjectOf>,
): ProcessorAnswer {
  return { outcome: 'answered', by: 'human', decision, ...(value !== undefined && { rewrite: value }) };
}

function failed(outcome: (typeof FAILURES)[number]): ProcessorAnswer {
  return { outcome, reason: { code: `was ${outcome}` } };
}

/** Asks as the workflow does: nobody after a verdict. `places` are where the hooks stand in the profile. */
function run(list: readonly Round[], places = list.map((_, index) => index)): ChainState {
  let state = startChain(subjectOf('original'));
  list.forEach(([hook, said], at) => {
    if (state.verdict === undefined)
      state = applyAnswer(state, judgeOfHook(placedHook(places[at] ?? at, hook)), said);
  });
  return state;
}

/** The contract's words once more, without the product's code. */
function model(list: readonly Round[]) {
  let value: unknown = 'original';
  const rewrittenBy: string[] = [];
  for (const [index, [{ mode, onFailure }, said]] of list.entries()) {
    if (mode === 'observe') continue;
    const hookId = `h${index}`;
    if (said.outcome === 'cancelled') return { value, rewrittenBy, deny: { hookId, by: 'cancelled' } };
    if (said.outcome !== 'answered') {
      if (onFailure === 'fail_open') continue;
      const by = said.outcome === 'timeout' ? 'timeout' : 'hook_failure';
      return { value, rewrittenBy, deny: { hookId, by } };
    }
    if (said.decision === 'deny') return { value, rewrittenBy, deny: { hookId, by: 'human' } };
    if (said.rewrite?.kind === 'inline') {
      value = said.rewrite.value;
      rewrittenBy.push(hookId);
    }
    if (said.decision === 'allow') return { value, rewrittenBy, allow: hookId };
  }
  return { value, rewrittenBy };
}

test('C1, C2, C4: the first decision other than defer wins and rewrites compose in order, as in the model', () => {
  fc.assert(
    fc.property(rounds, (list) => {
      const { subject, rewrittenBy, verdict } = run(list);
      const { value, deny, allow, ...expected } = model(list);
      expect(subject).toMatchObject({ value });
      expect(rewrittenBy).toEqual(expected.rewrittenBy);
      if (deny !== undefined) {
        expect(verdict).toMatchObject({ kind: 'deny', denial: { ...deny, executed: false } });
      } else {
        expect(verdict).toEqual(allow === undefined ? undefined : { kind: 'allow', hookId: allow });
      }
    }),
    { numRuns: 1_000 },
  );
});

test('C4: when every hook defers the work goes on, and nobody is named for it', () => {
  expect(concludeChain(run([[{}, answered('defer')]]))).toEqual({ kind: 'allow' });
  expect(concludeChain(run([]))).toEqual({ kind: 'allow' });
});

const silentRounds: fc.Arbitrary<Round> = fc.oneof(
  fc.constant<Round>([{}, answered('defer')]),
  failure.map<Round>((said) => [{ onFailure: 'fail_open' }, said]),
  answer.map<Round>((said) => [{ mode: 'observe' }, said]),
);

test('C3, C5: a hook without an opinion, or that only observes, changes nothing wherever it stands', () => {
  fc.assert(
    fc.property(rounds, silentRounds, fc.nat(16), (list, silent, position) => {
      const at = Math.min(position, list.length);
      const longer = [...list.slice(0, at), silent, ...list.slice(at)];
      // The others keep their ids, so that the two states can be compared whole.
      const places = longer.map((_, index) => (index === at ? 99 : index < at ? index : index - 1));
      expect(run(longer, places)).toEqual(run(list));
    }),
    { numRuns: 500 },
  );
});

test('C3: under fail_closed no failed hook ever lets the work through, whatever stands after it', () => {
  fc.assert(
    fc.property(failure, rounds, (said, after) => {
      expect(concludeChain(run([[{}, said], ...after]))).toMatchObject({
        kind: 'deny',
        denial: { hookId: 'h0' },
      });
    }),
  );
});

test('C6: a cancelled hook denies whatever its onFailure', () => {
  for (const onFailure of ['fail_open', 'fail_closed'] as const) {
    expect(effectiveDecision({ onFailure }, cancelled)).toBe('deny');
    expect(concludeChain(run([[{ onFailure }, cancelled]]))).toEqual({
      kind: 'deny',
      denial: { by: 'cancelled', hookId: 'h0', reason: { code: 'gone' }, executed: false },
    });
  }
});

test.each([
  ['timeout', 'timeout'],
  ['invalid', 'hook_failure'],
  ['unreachable', 'hook_failure'],
  ['nested_agent', 'hook_failure'],
] as const)('C3: a hook that ends with %s denies under fail_closed by %s, with its reason', (outcome, by) => {
  expect(concludeChain(run([[{}, failed(outcome)]]))).toEqual({
    kind: 'deny',
    denial: { by, hookId: 'h0', reason: { code: `was ${outcome}` }, executed: false },
  });
  expect(effectiveDecision({ onFailure: 'fail_open' }, failed(outcome))).toBe('defer');
});

test('a person who denies is told apart from every failure, and the reason is the person’s', () => {
  const said: ProcessorAnswer = {
    outcome: 'answered',
    by: 'human',
    decision: 'deny',
    reason: 'not on a Friday',
  };
  expect(concludeChain(run([[{}, said]]))).toEqual({
    kind: 'deny',
    denial: {
      by: 'human',
      hookId: 'h0',
      reason: { code: 'denied_by_person', text: 'not on a Friday' },
      executed: false,
    },
  });
});

test('C1: a hook asked after the verdict is a mistake of the caller and not a second verdict', () => {
  const decided = run([[{}, answered('allow')]]);
  expect(() => applyAnswer(decided, judgeOfHook(placedHook(1)), answered('deny'))).toThrow('verdict');
});
