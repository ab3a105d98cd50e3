import { parseSecretMap, SecretMapError } from '../../src/secrets/secret-map';

const SENSITIVE = 'hunter2-must-not-be-shown';

function messageOf(text: string): string {
  try {
    parseSecretMap(text);
  } catch (error) {
    expect(error).toBeInstanceOf(SecretMapError);
    return (error as Error).message;
  }
  throw new Error('the map was accepted');
}

const entry = (secret: unknown): string => JSON.stringify({ acme: { hook: secret } });

test('a map gives each name its current source, its previous one and its hosts', () => {
  const map = parseSecretMap(
    JSON.stringify({
      acme: {
        'payments-hook': {
          from: ['file:/run/secrets/new', 'env:OLD_HOOK_SECRET'],
          hosts: ['hooks.example.com', '*.internal.example', 'localhost', '127.0.0.1', '[::1]', 'A.example.'],
        },
        default: { from: ['env:ACME_SIGNING'] },
      },
      beta: {},
    }),
  );
  expect([...map.keys()]).toEqual(['acme', 'beta']);
  expect(Object.fromEntries(map.get('acme')!)).toEqual({
    'payments-hook': {
      current: { kind: 'file', path: '/run/secrets/new' },
      previous: { kind: 'env', variable: 'OLD_HOOK_SECRET' },
      hosts: ['hooks.example.com', '*.internal.example', 'localhost', '127.0.0.1', '[::1]', 'A.example.'],
    },
    default: { current: { kind: 'env', variable: 'ACME_SIGNING' } },
  });
});

test('names that objects inherit are ordinary names, and none is found that was not written', () => {
  const map = parseSecretMap('{"acme":{"constructor":{"from":["env:A"]}}}');
  expect(map.get('acme')?.get('constructor')).toEqual({ current: { kind: 'env', variable: 'A' } });
  expect(map.get('acme')?.get('toString')).toBeUndefined();
  expect(map.get('constructor')).toBeUndefined();
});

describe('a fault is refused with its pointer', () => {
  test.each<[string, string, string]>([
    ['no object', '[]', 'the whole text'],
    ['a tenant in capitals', '{"Acme":{}}', '/Acme'],
    ['an empty tenant', '{"":{}}', '/'],
    ['a tenant of 41 characters', `{"${'a'.repeat(41)}":{}}`, `/${'a'.repeat(41)}`],
    ['a tenant that is no object', '{"acme":"x"}', '/acme'],
    ['a tenant __proto__', '{"__proto__":{}}', '/__proto__'],
    ['a name with a slash', '{"acme":{"a/b":{"from":["env:A"]}}}', '/acme/a~1b'],
    ['a name of 129 characters', `{"acme":{"${'n'.repeat(129)}":{"from":["env:A"]}}}`, '/acme/n'],
    ['a name __proto__', '{"acme":{"__proto__":{"from":["env:A"]}}}', '/acme/__proto__'],
    ['a secret that is text', entry(SENSITIVE), '/acme/hook'],
    ['no from', entry({}), '/acme/hook/from'],
    ['no source', entry({ from: [] }), '/acme/hook/from'],
    ['three sources', entry({ from: ['env:A', 'env:B', 'env:C'] }), '/acme/hook/from'],
    ['one source twice', entry({ from: ['env:A', 'env:A'] }), '/acme/hook/from/1'],
    ['from as text', entry({ from: 'env:A' }), '/acme/hook/from'],
    ['a value as source', entry({ from: [SENSITIVE] }), '/acme/hook/from/0'],
    ['a value as second source', entry({ from: ['env:A', SENSITIVE] }), '/acme/hook/from/1'],
    ['a variable with a dash', entry({ from: [`env:${SENSITIVE}`] }), '/acme/hook/from/0'],
    ['an empty variable', entry({ from: ['env:'] }), '/acme/hook/from/0'],
    ['a relative path', entry({ from: [`file:${SENSITIVE}`] }), '/acme/hook/from/0'],
    ['a file URL', entry({ from: ['file:///run/secrets/a'] }), '/acme/hook/from/0'],
    ['a folder', entry({ from: ['file:/run/secrets/'] }), '/acme/hook/from/0'],
    ['a path with NUL', entry({ from: ['file:/run/\0'] }), '/acme/hook/from/0'],
    ['a source in capitals', entry({ from: ['ENV:A'] }), '/acme/hook/from/0'],
    ['an unknown member', entry({ from: ['env:A'], value: SENSITIVE }), '/acme/hook/value'],
    ['hosts that list nothing', entry({ from: ['env:A'], hosts: [] }), '/acme/hook/hosts'],
    ['a host that is a number', entry({ from: ['env:A'], hosts: [1] }), '/acme/hook/hosts/0'],
    ...[
      '',
      '*',
      '*.',
      '**.example',
      'a.*.example',
      '*example',
      'https://a.example',
      'a.example:443',
      'a.example/x',
      'u@a.example',
      'bücher.example',
      '0x7f.1',
      '*.127.0.0.1',
      '*.[::1]',
      ' a.example',
      '.a.example',
    ].map((host): [string, string, string] => [
      `the host ${JSON.stringify(host)}`,
      entry({ from: ['env:A'], hosts: ['a.example', host] }),
      '/acme/hook/hosts/1',
    ]),
  ])('%s', (_what, text, pointer) => {
    const message = messageOf(text);
    expect(message.split('\n')[1]?.startsWith(pointer)).toBe(true);
    expect(message).not.toContain(SENSITIVE);
  });
});

test('all faults are listed at once, one a line', () => {
  const message = messageOf(
    JSON.stringify({
      ACME: { hook: { from: [SENSITIVE, 'env:A'], hosts: ['*'], extra: 1 }, 'a b': { from: ['env:A'] } },
    }),
  );
  const pointers = message
    .split('\n')
    .slice(1)
    .map((line) => line.slice(0, line.indexOf(': ')));
  expect(pointers.sort()).toEqual([
    '/ACME',
    '/ACME/a b',
    '/ACME/hook/extra',
    '/ACME/hook/from/0',
    '/ACME/hook/hosts/0',
  ]);
});

test('a name that is written twice is refused, because one of the two would be lost', () => {
  expect(
    messageOf('{"acme":{"hook":{"from":["env:A"],"hosts":["a.example"]},"hook":{"from":["env:A"]}}}'),
  ).toContain('/acme/hook: the name is repeated');
});

test.each(['', '{', `{"acme":${SENSITIVE}`, `{"acme":"${SENSITIVE}`])(
  'text that is not JSON is refused without quoting it: case %#',
  (text) => {
    const message = messageOf(text);
    expect(message).toMatch(/is not JSON: expected .+ at position [0-9]+$/s);
    expect(message).not.toContain('hunter2');
  },
);
