import fc from 'fast-check';
import { duplicateMembers } from '../../src/domain/json-scan';
import { JsonSyntaxFault } from '../../src/domain/json-tokens';

/** JSON as a tree of texts, so that a member name can stand twice. */
type Tree =
  | { readonly members: readonly (readonly [string, Tree])[] }
  | { readonly items: readonly Tree[] }
  | { readonly text: string };

/** A small alphabet makes equal names likely; `/`, `~`, quotes and `__proto__` are the hard ones. */
const name = fc.constantFrom('a', 'b', '', '/', '~', '"', '\\', '__proto__', 'constructor', 'é', '\u{1f600}');

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('1', '-0.5e+3', 'null', 'true', '"x"', '"\\u0000\\ud83d"').map((text) => ({ text })),
    fc.array(fc.tuple(name, tie('tree')), { maxLength: 5 }).map((members) => ({ members })),
    fc.array(tie('tree'), { maxLength: 4 }).map((items) => ({ items })),
  ),
}));

function write(node: Tree, space: string, escape: boolean): string {
  if ('text' in node) return node.text;
  const separator = `${space},${space}`;
  if ('items' in node)
    return `[${space}${node.items.map((item) => write(item, space, escape)).join(separator)}${space}]`;
  const members = node.members.map(([key, value], index) => {
    const escaped = [...Array(key.length).keys()]
      .map((at) => `\\u${key.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join('');
    const quoted = escape && index % 2 === 1 ? `"${escaped}"` : JSON.stringify(key);
    return `${quoted}${space}:${space}${write(value, space, escape)}`;
  });
  return `{${space}${members.join(separator)}${space}}`;
}

/** The reference: recursion over the tree that the text was written from. */
function duplicatesIn(node: Tree, pointer = ''): string[] {
  if ('text' in node) return [];
  if ('items' in node) return node.items.flatMap((item, index) => duplicatesIn(item, `${pointer}/${index}`));
  return node.members.flatMap(([key, value], index) => {
    const here = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const repeated = node.members.slice(0, index).some(([earlier]) => earlier === key);
    return [...(repeated ? [here] : []), ...duplicatesIn(value, here)];
  });
}

const accepts = (read: (text: string) => unknown, text: string): boolean => {
  try {
    read(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonSyntaxFault) return false;
    throw error;
  }
};

test('every repeated name is found, and nothing else, however it is spelt and spaced', () => {
  fc.assert(
    fc.property(tree, fc.constantFrom('', ' ', '\t\r\n'), fc.boolean(), (node, space, escape) => {
      const expected = duplicatesIn(node);
      fc.pre(expected.length <= 100);
      expect(duplicateMembers(write(node, space, escape))).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test('the scan accepts exactly the texts that JSON.parse accepts', () => {
  const damaged = fc
    .tuple(
      tree,
      fc.nat(),
      fc.nat(3),
      fc.constantFrom('', ',', '"', '\\', '}', ']', '{', ':', '0', '-', '.', 'e', '\u0001', '\u00a0', 'x'),
    )
    .map(([node, at, cut, put]) => {
      const text = write(node, ' ', false);
      const index = at % (text.length + 1);
      return text.slice(0, index) + put + text.slice(index + cut);
    });
  let refused = 0;
  fc.assert(
    fc.property(fc.oneof(damaged, fc.json(), fc.string()), (text) => {
      const valid = accepts(JSON.parse, text);
      if (!valid) refused += 1;
      expect(accepts(duplicateMembers, text)).toBe(valid);
    }),
    { numRuns: 3000 },
  );
  expect(refused).toBeGreaterThan(500);
});

test.each([
  ['', 0],
  ['[1,]', 3],
  ['{"a" 1}', 5],
  ['{"a":1', 6],
  ['"abc', 4],
  ['"a\\x"', 2],
  ['01', 1],
  ['{"a":tru}', 5],
  ['[1] 2', 4],
])('%j stops being JSON at %i', (text, position) => {
  expect(() => duplicateMembers(text)).toThrow(expect.objectContaining({ position }) as Error);
});

test('a megabyte of string, of nesting or of names is read without exhausting the stack', () => {
  expect(duplicateMembers(`"${'\\n'.repeat(500_000)}"`)).toEqual([]);
  expect(duplicateMembers('['.repeat(500_000) + ']'.repeat(500_000))).toEqual([]);
  const names = Array.from({ length: 100_000 }, (_, index) => `"k${index}":0`).join();
  expect(duplicateMembers(`{${names},"k7":1}`)).toEqual(['/k7']);
});
