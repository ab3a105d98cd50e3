import fc from 'fast-check';
import { MAX_JSON_DEPTH, type JsonValue } from '../../src/domain/json-value';
import { matchesPattern, patternFault, replaceMatches } from '../../src/domain/linear-pattern';
import { REDACTED } from '../../src/domain/masked-text';
import { redactText, redactValue, replaceSecrets } from '../../src/domain/redaction';
import { redactionSettingsSchema } from '../../src/domain/redaction-schema';

const NONE = { fields: [], patterns: [], secrets: [] };
const SECRET = 'correct-horse-battery';

const text = (original: string): string => redactText(original, NONE);
const value = (original: JsonValue, rules: Partial<typeof NONE> | object = {}): JsonValue =>
  redactValue(original, { ...NONE, ...rules });

test.each([
  ...['password', 'Password', 'PASS_WORD', 'pass-word', 'passwd', 'pwd', 'secret', 'clientSecret'],
  ...[
    ...['client_secret', 'token', 'accessToken', 'access_token', 'refresh-token', 'idToken', 'apiKey'],
    ...['API_KEY'],
  ],
  ...[
    ...['x-api-key', 'authorization', 'Authorization', 'Proxy-Authorization', 'cookie', 'Set-Cookie'],
    ...['private_key'],
  ],
  ...[
    ...['credential', 'credentials', 'passphrase', 'session_id', 'sessionId', 'connectionString'],
    ...['db_password'],
  ],
  ...['aws secret', 'GITHUB_TOKEN', 'ssh private key'],
])('what a member named %s holds is hidden whole, at any depth', (name) => {
  for (const hidden of ['x', 1, null, true, ['x'], { a: 'x' }] as JsonValue[]) {
    expect(value({ [name]: hidden })).toEqual({ [name]: REDACTED });
    expect(value([{ a: [[{ [name]: hidden, b: 1 }]] }])).toEqual([{ a: [[{ [name]: REDACTED, b: 1 }]] }]);
    expect(value(JSON.stringify([{ [name]: hidden }]))).toBe(JSON.stringify([{ [name]: REDACTED }]));
  }
});

test.each([
  ...['passwordHint', 'tokens', 'max_tokens', 'cookies', 'secretary', 'key', 'author', 'credit', 'pwd2'],
  ...[''],
])('what a member named %j holds is shown', (name) => {
  const shown = { [name]: ['x', 1, null] };
  expect(value(shown)).toBe(shown);
});

test('the fields of the tenant are hidden beside the built-in ones', () => {
  const rules = { fields: ['Tax ID', 'пароль'] };
  expect(value({ tax_id: 1, 'TAX-ID': [2], taxIds: 3, Пароль: 4, token: 5 }, rules)).toEqual({
    tax_id: REDACTED,
    'TAX-ID': REDACTED,
    taxIds: 3,
    Пароль: REDACTED,
    token: REDACTED,
  });
  expect(value('taxid=12-34&x=1', rules)).toBe('taxid=[redacted]&x=1');
  expect(value('пароль: abc', rules)).toBe('пароль: [redacted]');
});

const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'dozjgNryP4J3jVmN'.repeat(2)}`;
const PEM = (body: string): string =>
  `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----`;

test.each([
  ['Bearer abcdef.123456', 'Bearer [redacted]'],
  ['bearer\tabcdefgh!', 'bearer\t[redacted]!'],
  ['Basic dXNlcjpwYXNz', 'Basic [redacted]'],
  ['Authorization: Bearer x', 'Authorization: [redacted]'],
  ['curl -H "Authorization: Digest username=x" url', 'curl -H "Authorization: [redacted]" url'],
  ['GET /\r\nCookie: a=b; c=d\r\nAccept: */*', 'GET /\r\nCookie: [redacted]\r\nAccept: */*'],
  [`pk_acme_0123456789abcdef_${'A'.repeat(43)}`, REDACTED],
  [`(pk_my-tenant_0123456789abcdef_${'A'.repeat(43)})`, '([redacted])'],
  ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw=', REDACTED],
  ['key sk-proj-abc_DEF-0123456789.', 'key [redacted].'],
  ['id AKIAIOSFODNN7EXAMPLE', 'id [redacted]'],
  [`x ghp_${'a1'.repeat(18)} y`, 'x [redacted] y'],
  [`github_pat_${'a_1'.repeat(20)}`, REDACTED],
  ['xoxb-123456789012-abcdef', REDACTED],
  ['xoxp-123456789012-abcdef', REDACTED],
  [`t ${JWT}, u`, 't [redacted], u'],
  [`a\n${PEM('MIIE\nabc=')}\nb`, 'a\n[redacted]\nb'],
  [`${PEM('1')} ${PEM('2')}`, '[redacted] [redacted]'],
  ['-----BEGIN PRIVATE KEY-----\nMIIE cut off', REDACTED],
  ['postgres://user:pa@ss@host:5432/db', 'postgres://[redacted]@host:5432/db'],
  [
    'see https://u:p@a.example/x and http://b.example/@c',
    'see https://[redacted]@a.example/x and http://b.example/@c',
  ],
  ['{"password": "x"', '{"password": "[redacted]"'],
  [
    'got {"user":"ann","password":"a\\"b\\\\","ok":1} back',
    'got {"user":"ann","password":"[redacted]","ok":1} back',
  ],
  [
    'got {\\"password\\":\\"a\\\\\\"b\\",\\"ok\\":1} back',
    'got {\\"password\\":\\"[redacted]\\",\\"ok\\":1} back',
  ],
  ['got {"secret": {"a": ["}", 1]}, "ok": 1}', 'got {"secret": [redacted], "ok": 1}'],
  ["{'api_key' : 'x y'}", "{'api_key' : '[redacted]'}"],
  ['{"token":12,"a":"b"', '{"token":[redacted]"a":"b"'],
  ['?a=1&access_token=x%20y&b=2', '?a=1&access_token=[redacted]&b=2'],
  ['mysql --user=root --password=x,y;z db', 'mysql --user=root --password=[redacted] db'],
  ['tool --api-key "a b" --token x -v', 'tool --api-key "[redacted]" --token [redacted] -v'],
  ['export DB_PASSWORD="a b"; run', 'export DB_PASSWORD="[redacted]"; run'],
  ['Server=x;Pwd=abc', 'Server=x;Pwd=[redacted]'],
  ['app.db.password: hunter2\nport: 1', 'app.db.password: [redacted]\nport: 1'],
  ['the password: "never ends', 'the password: "[redacted]'],
])('of %j only %j is shown', (original, shown) => {
  expect(text(original)).toBe(shown);
  expect(text(shown)).toBe(shown);
  expect(value([{ a: original }])).toEqual([{ a: shown }]);
  expect(Object.keys(value({ [original]: 1 }) as object)).toEqual([shown]);
});

test.each([
  ...['', 'a password is asked for', 'basic knowledge of bears', 'http://host:8080/a@b', 'user@example.com'],
  ...[
    ...['task-force-of-twelve', 'risk-assessment', 'pk_short', 'a=b&c=d', '{"a": "b"', '{"user":"ann"}'],
    ...['[1, 2]'],
  ],
  ...[
    ...['eyJ', 'AKIA', '-----BEGIN PUBLIC KEY-----', '--verbose true', 'password=', 'token: ', '"pwd":""'],
    ...['x :=: y'],
  ],
])('%j is shown as it is', (original) => {
  expect(text(original)).toBe(original);
});

test('a text that is JSON is hidden part by part, at any level of escaping', () => {
  const inner = { password: { a: [1] }, note: 'Bearer abcdefgh' };
  const shown = { password: REDACTED, note: 'Bearer [redacted]' };
  let [nested, expected] = [JSON.stringify(inner), JSON.stringify(shown)];
  for (let level = 0; level < 6; level += 1) {
    expect(value({ body: nested })).toEqual({ body: expected });
    [nested, expected] = [JSON.stringify({ body: nested }), JSON.stringify({ body: expected })];
  }
  expect(text(JSON.stringify(JSON.stringify(inner)))).toBe(JSON.stringify(JSON.stringify(shown)));
  expect(text('{"a": 1.0, "b": [ ]}')).toBe('{"a": 1.0, "b": [ ]}');
  expect(text('{"pass\\u0077ord":"x"}')).toBe('{"password":"[redacted]"}');
});

test('the patterns of the tenant hide their matches in texts, names and numbers, whatever stands in them', () => {
  const rules = { patterns: ['\\b\\d{16}\\b', '(?i)project (\\w+)', 'b*', '\\$1'] };
  expect(
    value({ '4111111111111111': 4111111111111111, a: 'x 4111111111111111, Project Atlas' }, rules),
  ).toEqual({
    [REDACTED]: REDACTED,
    a: 'x [redacted], [redacted]',
  });
  expect(value('a $1 cab', rules)).toBe('a [redacted] ca[redacted]');
});

test('matches that overlap are hidden together', () => {
  expect(value('abcdef', { patterns: ['abcd', 'cdef'] })).toBe(REDACTED);
  expect(value('abcdef', { patterns: ['ab', 'ef'] })).toBe('[redacted]cd[redacted]');
});

test.each([
  ['as it is', `x${SECRET}y`, SECRET, 'x[redacted]y'],
  ['twice, overlapping', 'abcdabcdabcd', 'abcdabcd', REDACTED],
  ['in a URL', 'q=a%2Fb%2Bc%20d%26', 'a/b+c d&', 'q=[redacted]'],
  ['in a text of JSON', '"a\\"b\\\\c\\nd!"x', 'a"b\\c\nd!', '"[redacted]"x'],
  ['in a number', 1234567890, '12345678', REDACTED],
  ['beside a pair of surrogates', `😀${SECRET}😀`, SECRET, '😀[redacted]😀'],
  ['with signs of patterns', 'a.*$1(b)c', '.*$1(b)c', 'a[redacted]'],
])('a known secret %s is hidden', (_, original, secret, shown) => {
  expect(replaceSecrets({ a: [original] }, [secret])).toEqual({ a: [shown] });
  expect(value({ a: [original] }, { secrets: [secret] })).toEqual({ a: [shown] });
});

test('known secrets are hidden in names, and no member is lost by it', () => {
  const original = { [`a${SECRET}`]: 1, [SECRET]: 2, 'a[redacted]': 3, x: 4 };
  const shown = { 'a[redacted]': 1, [REDACTED]: 2, 'a[redacted]#2': 3, x: 4 };
  expect(replaceSecrets(original, [SECRET])).toEqual(shown);
  expect(value(original, { secrets: [SECRET] })).toEqual(shown);
});

test('when only secrets are hidden, all else is shown', () => {
  const original = { password: 'x', auth: 'Bearer abcdefgh', n: 1 };
  expect(replaceSecrets(original, [SECRET, 'short', ''])).toBe(original);
  expect(replaceSecrets({ ...original, password: SECRET }, [SECRET])).toEqual({
    ...original,
    password: REDACTED,
  });
});

test.each(['redacted', '[redacted', 'acted]xx', 'd]d]d]d]', 'x[redact', '[[[[[[[[', 'acted][r'])(
  'a secret that resembles the mark, %j, ends well',
  (secret) => {
    const shown = replaceSecrets(`${secret}${secret} ${REDACTED}${REDACTED} ${secret.slice(1)}`, [
      secret,
    ]) as string;
    if (!REDACTED.includes(secret)) expect(shown).not.toContain(secret);
    expect(replaceSecrets(shown, [secret])).toBe(shown);
  },
);

test('names of the language are members like any other, and no prototype changes', () => {
  const original = JSON.parse(
    '{"__proto__":{"password":"x","polluted":1},"constructor":{"prototype":{"token":2}}}',
  );
  const shown = value(original) as object;
  expect(JSON.stringify(shown)).toBe(
    '{"__proto__":{"password":"[redacted]","polluted":1},"constructor":{"prototype":{"token":"[redacted]"}}}',
  );
  expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
  expect('polluted' in {}).toBe(false);
});

const nested = (levels: number, inner: string): JsonValue =>
  JSON.parse('[{"a":'.repeat(levels / 2) + inner + '}]'.repeat(levels / 2));

test('the deepest value that is kept is searched to its end, and what is deeper is hidden', () => {
  expect(JSON.stringify(value(nested(MAX_JSON_DEPTH, '"Bearer abcdefgh"')))).toContain('"Bearer [redacted]"');
  expect(value(nested(MAX_JSON_DEPTH, '1'))).toEqual(nested(MAX_JSON_DEPTH, '1'));
  expect(value(nested(MAX_JSON_DEPTH + 2, '1'))).toEqual(nested(MAX_JSON_DEPTH, '"[redacted]"'));
  expect(text('['.repeat(200_000) + ']'.repeat(200_000))).toHaveLength(
    2 * MAX_JSON_DEPTH + REDACTED.length + 2,
  );
});

test('what nothing is hidden of is the same value, and what is redacted stays unchanged itself', () => {
  const original = { a: [{ b: 'c' }, 1, null, true], d: {} };
  expect(value(original)).toBe(original);
  const secret = Object.freeze({ password: 'x', a: Object.freeze([Object.freeze({ token: 1 })]) });
  value(secret);
  expect(secret).toEqual({ password: 'x', a: [{ token: 1 }] });
});

test.each([
  ['many headers of a JWT', 'eyJ'.repeat(100_000)],
  ['many names', 'token'.repeat(60_000)],
  ['many assignments', 'token={'.repeat(40_000)],
  ['many open quotes', '"token":"'.repeat(30_000)],
  ['many options', ' --token {'.repeat(30_000)],
  ['many backslashes', `token="${'\\'.repeat(300_000)}`],
  ['many separators', ':'.repeat(300_000)],
  ['many spaces', `token${' '.repeat(300_000)}`],
  ['many URLs', 'a://b:c@d '.repeat(30_000)],
  ['many signs of an address', `a://${'a@'.repeat(150_000)}`],
  ['many beginnings of keys', '-----BEGIN PRIVATE KEY-----'.repeat(10_000)],
])('a hostile text takes linear time: %s', (_, original) => {
  const started = performance.now();
  text(original);
  replaceSecrets(original, [SECRET, 'eyJeyJeyJ']);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('a pattern that would read a long text over and over hides the rest of it', () => {
  const started = performance.now();
  expect(replaceMatches('(?s)a.*b|a', 'a'.repeat(200_000), '*')).toMatch(/^\*+$/);
  expect(performance.now() - started).toBeLessThan(15_000);
  expect(replaceMatches('b*', 'abbc', '$&$1\\')).toBe('a$&$1\\c');
});

test('more patterns than are kept compiled still match', () => {
  for (let round = 0; round < 2; round += 1) {
    for (let at = 0; at < 400; at += 1) expect(matchesPattern(`^n${at}$`, `n${at}`)).toBe(true);
  }
});

test('whatever is a pattern: it is refused or matches without an exception', () => {
  const piece = fc.constantFrom(
    ...['a', '(', ')', '[', ']', '*', '+', '?', '|', '\\', '^', '$', '{2}', '.', '\\pL', '😀'],
  );
  const pattern = fc.array(piece).map((parts) => parts.join(''));
  fc.assert(
    fc.property(pattern, fc.string(), (some, searched) => {
      if (patternFault(some) === undefined) expect(typeof matchesPattern(some, searched)).toBe('boolean');
    }),
    { numRuns: 500 },
  );
});

const secrets = fc.stringMatching(/^[A-Za-z0-9"\\/+= é😀-]{8,24}$/u);
const around = fc.string({ unit: fc.constantFrom('a', '"', '\\', ' ', '=', ':', '😀', '{', 'token', 'sk-') });

const treeWith = (secret: string): fc.Arbitrary<JsonValue> => {
  const holding = fc.tuple(around, around).map(([before, after]) => before + secret + after);
  const string = fc.oneof(
    around,
    holding,
    holding.map((each) => JSON.stringify({ each })),
  );
  return fc.letrec<{ tree: JsonValue }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      string,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc
        .array(fc.tuple(fc.oneof(fc.constantFrom('password', '__proto__', 'a'), string), tie('tree')), {
          maxLength: 4,
        })
        .map((members) => Object.fromEntries(members)),
    ),
  })).tree;
};

const leafTexts = (tree: JsonValue): string[] => {
  if (typeof tree !== 'object' || tree === null) return [String(tree)];
  return Object.entries(tree).flatMap(([name, member]) => [name, ...leafTexts(member)]);
};

test('wherever a known secret stands in a value, it is not shown', () => {
  fc.assert(
    fc.property(
      secrets.chain((secret) => fc.tuple(fc.constant(secret), treeWith(secret))),
      ([secret, tree]) => {
        for (const shown of [replaceSecrets(tree, [secret]), value(tree, { secrets: [secret] })]) {
          for (const part of leafTexts(shown)) {
            expect(part).not.toContain(secret);
            expect(part).not.toContain(JSON.stringify(secret).slice(1, -1));
            expect(part.isWellFormed()).toBe(true);
          }
          if (/^[A-Za-z0-9]+$/.test(secret)) expect(JSON.stringify(shown)).not.toContain(secret);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test('wherever a credential stands in a value, it is not shown', () => {
  const separated = fc
    .tuple(around, around)
    .map(([before, after]) => `${before} ghp_${'X1'.repeat(18)} ${after}`);
  fc.assert(
    fc.property(
      separated.chain((holding) => treeWith(holding)),
      (tree) => expect(JSON.stringify(value(tree))).not.toContain('X1X1'),
    ),
  );
});

test('redacting is idempotent', () => {
  const rules = { fields: ['a'], patterns: ['a=', '^\\w', 'en$'], secrets: [SECRET] };
  const piece = fc.constantFrom(
    ...[
      'password',
      'token',
      '"',
      "'",
      '\\',
      '=',
      ':',
      ' ',
      '{',
      '}',
      '[',
      ']',
      '&',
      ',',
      '\n',
      '--',
      '/',
      '@',
    ],
    ...['Bearer abcdefgh', 'sk-12345678', 'a://', 'cookie', REDACTED, SECRET, 'x', '😀'],
  );
  const string = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));
  const tree = string.chain((some) => fc.oneof(fc.constant(some as JsonValue), treeWith(some)));
  fc.assert(
    fc.property(tree, fc.constantFrom(NONE, rules), (original, by) => {
      const shown = value(original, by);
      expect(value(shown, by)).toEqual(shown);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['an unknown member', { field: [] }, ['/field']],
  ['an empty name', { fields: [''] }, ['/fields/0']],
  ['a name of nothing but signs that are ignored', { fields: ['a', '- _'] }, ['/fields/1']],
  ['a name that is too long', { fields: ['x'.repeat(129)] }, ['/fields/0']],
  ['a name that is no text', { fields: [1] }, ['/fields/0']],
  ['too many names', { fields: Array(257).fill('x') }, ['/fields']],
  ['a pattern that is no RE2', { patterns: ['a', '(?=a)'] }, ['/patterns/1']],
  ['a pattern that is too long', { patterns: ['x'.repeat(1_025)] }, ['/patterns/0']],
  ['patterns that match nothing', { patterns: ['', 'a*'] }, ['/patterns/0', '/patterns/1']],
  ['too many patterns', { patterns: Array(65).fill('x') }, ['/patterns']],
  ['several faults', { fields: [''], patterns: ['('], x: 1 }, ['/fields/0', '/patterns/0', '/x']],
])('settings with %s are refused, and each fault is told', (_, settings, pointers) => {
  const { error } = redactionSettingsSchema.safeParse(settings);
  const told = (error?.issues ?? []).map(({ path, ...issue }) =>
    ['', ...path, ...(issue.code === 'unrecognized_keys' ? issue.keys : [])].map(String).join('/'),
  );
  expect([...new Set(told)]).toEqual(pointers);
});

test('settings have no fields and no patterns by default', () => {
  expect(redactionSettingsSchema.parse({})).toEqual({ fields: [], patterns: [] });
  const settings = { fields: ['x'.repeat(128)], patterns: ['a+'] };
  expect(redactionSettingsSchema.parse(settings)).toEqual(settings);
});
