import fc from 'fast-check';
import {
  applyAnswer,
  concludeChain,
  startChain,
  type ChainState,
  type ProcessorAnswer,
} from '../../src/domain/hook-chain';
import type { PlacedHook } from '../../src/domain/hook';
import { inlineSubject, type InlineSubject } from '../../src/domain/subject';

const subjectOf = (value: number): InlineSubject =>
  inlineSubject({ point: 'before_tool_call', tool: 't', value });

const placed = fc
  .record({
    onFailure: fc.constantFrom('fail_closed' as const, 'fail_open' as const),
    mode: fc.constantFrom('enforce' as const, 'enforce' as const, 'observe' as const),
  })
  .map(({ onFailure, mode }) => (index: number): PlacedHook => ({
    index,
    hook: {
      id: `h${index}`,
      point: 'before_tool_call',
      processor: { type: 'client', asyncTimeoutMs: 1, minApprovals: 1, allowSelfApproval: false },
      onFailure,
      mode,
    },
  }));

const rewrite = fc.option(fc.integer({ min: 0, max: 1_000 }).map(subjectOf), { nil: undefined });
const answer: fc.Arbitrary<ProcessorAnswer> = fc.oneof(
  fc
    .tuple(fc.constantFrom('allow' as const, 'defer' as const, 'defer' as const), rewrite)
    .map(([decision, value]) => ({
      outcome: 'answered' as const,
      decision,
      ...(value && { rewrite: value }),
    })),
  fc.constant({ outcome: 'answered' as const, decision: 'deny' as const }),
  fc
    .constantFrom('timeout' as const, 'invalid' as const, 'unreachable' as const, 'nested_agent' as const)
    .map((outcome) => ({ outcome, reason: { code: outcome } })),
  fc.constant({ outcome: 'cancelled' as const, reason: { code: 'cancelled' }, resolvedBy: ['x'] }),
);
const rounds = fc.array(fc.tuple(placed, answer), { maxLength: 16 });

function run(list: readonly (readonly [(index: number) => PlacedHook, ProcessorAnswer])[]): ChainState {
  let state = startChain(subjectOf(-1));
  list.forEach(([hook, said], index) => {
    if (state.verdict === undefined) state = applyAnswer(state, hook(index), said);
  });
  return state;
}

/** The contract's words, written once more and without the product's code. */
function model(list: readonly (readonly [(index: number) => PlacedHook, ProcessorAnswer])[]) {
  let value = -1;
  for (const [index, [hook, said]] of list.entries()) {
    const { mode, onFailure } = hook(index).hook;
    if (mode === 'observe') continue;
    const failed = said.outcome !== 'answered' && said.outcome !== 'cancelled';
    if (said.outcome === 'cancelled' || (failed && onFailure === 'fail_closed'))
      return { kind: 'deny', by: index };
    if (said.outcome !== 'answered') continue;
    if (said.decision === 'deny') return { kind: 'deny', by: index };
    if (said.rewrite?.kind === 'inline') value = said.rewrite.value as number;
    if (said.decision === 'allow') return { kind: 'allow', value };
  }
  return { kind: 'allow', value };
}

test('[S] the first decision other than defer wins, and rewrites compose in order (against a model)', () => {
  fc.assert(
    fc.property(rounds, (list) => {
      const state = run(list);
      const verdict = concludeChain(state);
      const expected = model(list);
      if (expected.kind === 'deny') {
        expect(verdict).toMatchObject({
          kind: 'deny',
          denial: { hookId: `h${expected.by}`, executed: false },
        });
      } else {
        expect(verdict.kind).toBe('allow');
        expect(state.subject).toEqual(subjectOf(expected.value!));
      }
    }),
    { numRuns: 500 },
  );
});

test('a hook that has no opinion, or only observes, changes nothing wherever it stands', () => {
  fc.assert(
    fc.property(rounds, fc.nat(16), fc.boolean(), (list, at, observe) => {
      const none = (index: number): PlacedHook => ({
        index,
        hook: {
          id: 'none',
          point: 'before_tool_call',
          processor: { type: 'client', asyncTimeoutMs: 1, minApprovals: 1, allowSelfApproval: false },
          onFailure: 'fail_closed',
          mode: observe ? 'observe' : 'enforce',
        },
      });
      const silent: ProcessorAnswer = { outcome: 'answered', decision: observe ? 'deny' : 'defer' };
      const longer = [...list.slice(0, at), [none, silent] as const, ...list.slice(at)];
      expect(concludeChain(run(longer)).kind).toBe(concludeChain(run(list)).kind);
      expect(run(longer).subject).toEqual(run(list).subject);
    }),
  );
});

test.each([
  ['answered', 'human'],
  ['timeout', 'timeout'],
  ['invalid', 'hook_failure'],
  ['unreachable', 'hook_failure'],
  ['nested_agent', 'hook_failure'],
  ['cancelled', 'cancelled'],
] as const)('a denial that comes of %s is by %s', (outcome, by) => {
  const said = (
    outcome === 'answered'
      ? { outcome, decision: 'deny' }
      : { outcome, reason: { code: outcome }, ...(outcome === 'cancelled' && { resolvedBy: [] }) }
  ) as ProcessorAnswer;
  const hook = fc
    .sample(placed, 50)
    .map((make) => make(0))
    .find(({ hook: h }) => h.mode === 'enforce' && h.onFailure === 'fail_closed')!;
  expect(concludeChain(applyAnswer(startChain(subjectOf(1)), hook, said))).toMatchObject({ denial: { by } });
});
