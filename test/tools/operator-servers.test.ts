import { parseOperatorServers } from '../../src/tools/operator-servers';

test('programs are read per tenant, with their defaults', () => {
  const servers = parseOperatorServers('{"acme":{"files":{"command":"/bin/x","env":{"A":{"secret":"s"}}}}}');
  expect(servers.get('acme')?.get('files')).toEqual({
    command: '/bin/x',
    args: [],
    env: { A: { secret: 's' } },
  });
  expect(servers.get('constructor')).toBeUndefined();
  expect(servers.get('acme')?.get('toString')).toBeUndefined();
});

test.each([
  ['no JSON', '{', /not JSON/],
  ['a repeated name', '{"a":{},"a":{}}', /\/a: the name is repeated/],
  ['a bad tenant', '{"A B":{}}', /A B/],
  ['no command', '{"a":{"x":{}}}', /\/a\/x\/command/],
  ['a relative folder', '{"a":{"x":{"command":"x","cwd":"y"}}}', /\/a\/x\/cwd: write an absolute path/],
  ['an unknown member', '{"a":{"x":{"command":"x","shell":true}}}', /\/a\/x/],
])('%s is refused with its place', (_what, text, message) => {
  expect(() => parseOperatorServers(text)).toThrow(message);
});
