import fc from 'fast-check';
import { MAX_REASON_BYTES, readHookResult } from '../../src/domain/hook-result';
import type { Point } from '../../src/domain/point';

const read = (body: unknown, point: Point = 'before_tool_call') => readHookResult(body, point);

const pointersOf = (body: unknown, point?: Point): string[] => {
  const reading = read(body, point);
  return reading.ok ? [] : reading.faults.map(({ pointer }) => pointer);
};

test.each([
  ['null', null, ['']],
  ['an array', [], ['']],
  ['an array with a decision', [{ decision: 'allow' }], ['']],
  ['a text', 'allow', ['']],
  ['HTML', '<html>', ['']],
  ['a number', 1, ['']],
  ['nothing', undefined, ['']],
  ['an empty object', {}, ['/decision']],
  ['another case', { decision: 'Allow' }, ['/decision']],
  ['white space', { decision: ' allow' }, ['/decision']],
  ['ask, from a person', { decision: 'ask' }, ['/decision']],
  ['a decision in a list', { decision: ['allow'] }, ['/decision']],
  ['true', { decision: true }, ['/decision']],
  ['a misspelt member', { decison: 'deny' }, ['/decison', '/decision']],
  ['a deny with a rewrite', { decision: 'deny', updatedInput: 1 }, ['/updatedInput']],
  ['a deny with a rewrite to null', { decision: 'deny', updatedInput: null }, ['/updatedInput']],
  ['a rewrite of another kind', { decision: 'allow', updatedText: 'x' }, ['/updatedText']],
  ['two rewrites', { decision: 'allow', updatedInput: 1, updatedOutput: 1 }, ['/updatedOutput']],
  ['__proto__', JSON.parse('{"decision":"allow","__proto__":1}'), ['/__proto__']],
  ['only __proto__', JSON.parse('{"__proto__":{"decision":"allow"}}'), ['/__proto__', '/decision']],
  ['an inherited decision', Object.create({ decision: 'allow' }), ['/decision']],
  ['a name that must be escaped', { decision: 'allow', 'a/b~c': 1 }, ['/a~1b~0c']],
  ['a name that is not well-formed', { decision: 'allow', '\ud800': 1 }, ['/\ufffd']],
  ['a reason that is no text', { decision: 'allow', reason: 1 }, ['/reason']],
  ['a reason of null', { decision: 'allow', reason: null }, ['/reason']],
  ['a reason beyond 4 KiB', { decision: 'allow', reason: 'x'.repeat(MAX_REASON_BYTES + 1) }, ['/reason']],
  ['a reason beyond 4 KiB of UTF-8', { decision: 'allow', reason: '€'.repeat(1_366) }, ['/reason']],
  ['a reason with a lone surrogate', { decision: 'allow', reason: '\ud800' }, ['/reason']],
  ['an unfaithful rewrite', { decision: 'allow', updatedInput: { a: [2 ** 53] } }, ['/updatedInput/a/0']],
  ['several faults', { decision: 'No', reason: 1, x: 1 }, ['/x', '/decision', '/reason']],
])('%s is no HookResult, and each fault is told', (_, body, pointers) => {
  expect(pointersOf(body)).toEqual(pointers);
});

test.each([[null], [false], [0], [''], [[]], [{}], [JSON.parse('{"__proto__":1}')]])(
  'a rewrite to %j is a rewrite',
  (value) => {
    for (const decision of ['allow', 'defer'] as const) {
      const reading = read({ decision, updatedInput: value });
      expect(reading).toStrictEqual({ ok: true, result: { decision, rewrite: { value } } });
    }
  },
);

test.each(['allow', 'deny', 'defer'])(
  '%s without a rewrite has none, and keeps an empty reason',
  (decision) => {
    expect(read({ decision })).toStrictEqual({ ok: true, result: { decision } });
    expect(read({ decision, reason: '' })).toStrictEqual({ ok: true, result: { decision, reason: '' } });
    const longest = '€'.repeat(1_365) + 'x';
    expect(read({ decision, reason: longest })).toMatchObject({ ok: true, result: { reason: longest } });
  },
);

test.each([
  ['before_input', 'updatedText'],
  ['before_tool_call', 'updatedInput'],
  ['after_tool_call', 'updatedOutput'],
  ['after_output', 'updatedText'],
] as const)('at %s a hook may rewrite %s and nothing else', (point, member) => {
  for (const each of ['updatedText', 'updatedInput', 'updatedOutput']) {
    expect(read({ decision: 'allow', [each]: 'x' }, point).ok).toBe(each === member);
  }
});

test('a rewritten text is a string', () => {
  expect(pointersOf({ decision: 'allow', updatedText: null }, 'after_output')).toEqual(['/updatedText']);
  expect(pointersOf({ decision: 'allow', updatedText: '\ud800' }, 'after_output')).toEqual(['/updatedText']);
  expect(pointersOf({ decision: 'allow', updatedText: '' }, 'after_output')).toEqual([]);
});

test('whatever arrives: it is read without an exception, and only the three decisions are ever read', () => {
  const member = fc.constantFrom('decision', 'reason', 'updatedInput', 'updatedText', '__proto__', 'other');
  const value = fc.oneof(fc.constantFrom('allow', 'deny', 'defer', 'Allow'), fc.anything());
  const near = fc
    .array(fc.tuple(member, value), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries));
  fc.assert(
    fc.property(fc.oneof(near, fc.anything()), (body) => {
      const reading = read(body);
      if (!reading.ok) return expect(reading.faults.length).toBeGreaterThan(0);
      const sent = body as Record<string, unknown>;
      expect(['allow', 'deny', 'defer']).toContain(reading.result.decision);
      expect(reading.result.decision).toBe(sent['decision']);
      expect('rewrite' in reading.result).toBe(Object.hasOwn(sent, 'updatedInput'));
      expect(Object.keys(sent).every((key) => ['decision', 'reason', 'updatedInput'].includes(key))).toBe(
        true,
      );
    }),
    { numRuns: 1_000 },
  );
});
