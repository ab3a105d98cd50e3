import { toolsListSchema } from '../../src/domain/tool-schema';

const http = (more: object = {}) => ({
  kind: 'http',
  name: 'a',
  method: 'POST',
  url: 'https://a.example/{id}',
  inputSchema: { type: 'object', required: ['id'] },
  ...more,
});
const mcp = (more: object = {}) => ({ kind: 'mcp', name: 's', url: 'https://a.example/mcp', ...more });

test('defaults are written out', () => {
  expect(toolsListSchema.parse([http(), mcp()])).toEqual([
    { ...http(), idempotent: false, timeoutMs: 60_000 },
    { ...mcp(), prefix: '', idempotentTools: [], timeoutMs: 60_000 },
  ]);
});

test.each([
  ['a server without address', mcp({ url: undefined }), '/0/url'],
  ['a server with address and program', mcp({ server: 'x' }), '/0/url'],
  ['headers for a program', mcp({ url: undefined, server: 'x', headers: { a: 'b' } }), '/0/headers'],
  ['a private command', mcp({ url: undefined, command: 'sh' }), '/0'],
  ['http on another machine', mcp({ url: 'http://a.example/mcp' }), '/0/url'],
  ['credentials in the address', http({ url: 'https://u:p@a.example/{id}' }), '/0/url'],
  ['a parameter that the schema does not require', http({ inputSchema: { type: 'object' } }), '/0/url'],
  [
    'a header that Portcullis sets',
    http({ headers: { 'content-length': '1' } }),
    '/0/headers/content-length',
  ],
  ['an unknown method', http({ method: 'TRACE' }), '/0/method'],
  ['an unknown kind', { kind: 'shell', name: 'x' }, '/0/kind'],
  ['a time-out of two hours', http({ timeoutMs: 7_200_000 }), '/0/timeoutMs'],
  ['an empty list of tools', mcp({ tools: [] }), '/0/tools'],
  ['a pattern with a wildcard inside', mcp({ tools: ['a*b'] }), '/0/tools/0'],
  ['a prefix with a control character', mcp({ prefix: '\u0007' }), '/0/prefix'],
])('%s is refused where it stands', (_what, tool, pointer) => {
  const { error } = toolsListSchema.safeParse([tool]);
  const places = error?.issues.map(({ path }) => `/${path.map(String).join('/')}`);
  expect(places).toContain(pointer);
});

test('two tools, or two servers, of one name are refused; a tool and a server may share one', () => {
  const names = (tools: object[]) => toolsListSchema.safeParse(tools).error?.issues.map(({ path }) => path);
  expect(names([http(), http({ method: 'GET' })])).toEqual([[1, 'name']]);
  expect(names([mcp(), mcp()])).toEqual([[1, 'name']]);
  expect(names([mcp({ name: 'a' }), http()])).toBeUndefined();
});
