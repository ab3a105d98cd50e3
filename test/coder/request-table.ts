import type { Spoiled } from './fixture';

/**
 * One request: what is spoiled, what it is answered by whoever verifies it, and what
 * it needs that cannot be had over HTTP: a clock that stands still, an issuer, a header that HTTP would trim.
 */
export type RequestRow = [
  what: string,
  status: number,
  spoiled: Spoiled,
  given?: { now?: number; issuer?: string },
];

/** Chats and dispatches of some rows are the same for all. */
const UPPER = '6BA7B810-9DAD-41D1-80B4-00C04FD430C8';

const claim = (name: string, value: unknown): Spoiled => ({ claims: { [name]: value } });

/**
 * Requests to a verifier whose audience and clock these are; it also accepts `secondSecret`.
 * @param now whole seconds since the epoch
 */
export function requestTable({
  now: NOW,
  audience: AUDIENCE,
  secondSecret,
}: {
  now: number;
  audience: string;
  secondSecret: string;
}): RequestRow[] {
  return [
    ['a request as it should be', 200, {}],
    ['a claim more', 200, claim('extra', 1)],
    [
      'unknown members everywhere',
      200,
      { meta: { more: [1] }, data: { tool_use_id: 'x', tool_name: 'y', more: {} } },
    ],
    [
      'white space and another order, with a matching hash',
      200,
      { body: (text) => JSON.stringify(JSON.parse(text), null, 3) },
    ],
    ['an audience without its root slash', 400, claim('aud', 'https://hooks.example.com')],
    ['no workspace', 200, { meta: { workspace_id: undefined } }],
    ['null for an absent member of meta', 200, { meta: { turn_id: null } }],
    [
      'UUIDs in upper case',
      200,
      { meta: { dispatch_id: UPPER, chat_id: UPPER }, claims: { jti: UPPER.toLowerCase() } },
    ],
    [
      'a sub in upper case',
      200,
      { meta: { chat_id: UPPER.toLowerCase() }, claims: { sub: `coder:chat:${UPPER}` } },
    ],
    ['the second secret', 200, { secret: secondSecret }],
    ['another secret', 401, { secret: 'a-secret-that-nobody-has-configured-anywhere' }],
    ['no Authorization', 401, { authorization: () => undefined }],
    ['an empty Authorization', 401, { authorization: () => '' }],
    ['bearer in lower case', 401, { authorization: (token) => `bearer ${token}` }],
    ['two spaces', 401, { authorization: (token) => `Bearer  ${token}` }],
    ['a space at the end', 401, { authorization: (token) => `Bearer ${token} ` }, {}],
    ['the token alone', 401, { authorization: (token) => token }],
    ['Basic', 401, { authorization: (token) => `Basic ${token}` }],
    [
      'two parts of a token',
      401,
      { authorization: (token) => `Bearer ${token.split('.').slice(0, 2).join('.')}` },
    ],
    ['a changed signature', 401, { authorization: (token) => `Bearer ${token.slice(0, -4)}AAAA` }],
    ['alg none', 401, { header: { alg: 'none', typ: 'JWT' } }],
    ['HS384', 401, { header: { alg: 'HS384', typ: 'JWT' } }],
    ['HS512', 401, { header: { alg: 'HS512', typ: 'JWT' } }],
    ['RS256 with an HMAC', 401, { header: { alg: 'RS256', typ: 'JWT' } }],
    ['HS256 by hand', 200, { header: { alg: 'HS256', typ: 'JWT' } }],
    ['a key id', 200, { header: { alg: 'HS256', typ: 'JWT', kid: 'x' } }],
    ['no typ', 401, { header: { alg: 'HS256' } }],
    ['typ in lower case', 401, { header: { alg: 'HS256', typ: 'jwt' } }],
    ['another typ', 401, { header: { alg: 'HS256', typ: 'at+jwt' } }],
    ['a critical extension', 401, { header: { alg: 'HS256', typ: 'JWT', crit: ['x'], x: 1 } }],
    ...['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti', 'type', 'body_sha256'].flatMap(
      (name): [string, number, Spoiled][] => [
        [`${name} missing`, 401, claim(name, undefined)],
        [`${name} null`, 401, claim(name, null)],
        [`${name} an object`, 401, claim(name, {})],
      ],
    ),
    ['iss empty', 401, claim('iss', '')],
    ['aud an array', 401, claim('aud', [AUDIENCE])],
    ['iat a text', 401, claim('iat', String(NOW))],
    ['nbf a fraction', 401, claim('nbf', NOW - 30.5)],
    ['exp a text', 401, claim('exp', String(NOW + 30))],
    ['exp a fraction', 401, claim('exp', NOW + 30.5)],
    ['exp zero', 401, claim('exp', 0)],
    ['expired now', 401, claim('exp', NOW)],
    ['expired a moment ago', 401, {}, { now: NOW + 32 }],
    ['the last moment before', 200, {}, { now: NOW + 31.999 }],
    ['not yet valid by a second', 401, claim('nbf', NOW + 1), {}],
    ['not yet valid', 401, claim('nbf', NOW + 25)],
    ['valid from now on', 200, claim('nbf', NOW)],
    ['valid for a year', 200, claim('exp', NOW + 365 * 86_400)],
    ['issued in the future', 200, { claims: { iat: NOW + 20 } }],
    ['issued after its end', 401, { claims: { iat: NOW + 40 } }],
    ['jti that is no UUID', 401, claim('jti', 'x')],
    ['jti nil', 401, claim('jti', '00000000-0000-0000-0000-000000000000')],
    ['an unknown type', 401, { type: 'tool_use' }],
    ['sub of something else', 401, claim('sub', 'coder:workspace:6ba7b810-9dad-41d1-80b4-00c04fd430c8')],
    ['sub without a UUID', 401, claim('sub', 'coder:chat:1')],
    ['a hash that is too short', 401, claim('body_sha256', 'abc')],
    ['the configured issuer', 200, {}, { issuer: 'deployment-1' }],
    ['another issuer', 401, {}, { issuer: 'coder' }],
    ['a changed byte', 400, { sent: (text) => text.replace('execute', 'executf') }],
    ['a byte more', 400, { sent: (text) => `${text} ` }],
    ['an empty body', 400, { sent: () => '' }],
    ['a second JSON value', 400, { body: (text) => `${text}{}` }],
    ['no JSON', 400, { body: 'hello' }],
    ['a BOM', 400, { body: (text) => `\ufeff${text}` }],
    ['an array', 400, { body: '[]' }],
    ['null', 400, { body: 'null' }],
    ['the audience in another case', 400, claim('aud', AUDIENCE.replace('hooks', 'Hooks'))],
    ['the audience with its port', 400, claim('aud', AUDIENCE.replace('.com', '.com:443'))],
    ['the audience with a query', 400, claim('aud', `${AUDIENCE}?x=1`)],
    ['the audience with a slash more', 400, claim('aud', `${AUDIENCE}/`)],
    ['another schema version', 400, { meta: { schema_version: 2 } }],
    ['the schema version as a text', 400, { meta: { schema_version: '1' } }],
    ['another dispatch than jti', 400, { claims: { jti: '6ba7b810-9dad-41d1-80b4-00c04fd430c8' } }],
    ['another type than the token says', 400, { claims: { type: 'stop' } }],
    ['another chat than sub', 400, { claims: { sub: 'coder:chat:6ba7b810-9dad-41d1-80b4-00c04fd430c8' } }],
    ['no owner', 400, { meta: { owner_id: undefined } }],
    ['a workspace that is no UUID', 400, { meta: { workspace_id: 'x' } }],
    ['a tool event without a tool', 400, { data: { tool_use_id: 'x' } }],
    ['an empty tool_use_id', 400, { data: { tool_use_id: '', tool_name: 'x' } }],
    [
      'a name twice in the tool input',
      200,
      { body: (text) => text.replace('"command":"ls"', '"command":"ls","command":"rm"') },
    ],
    ['a tool_input of null', 200, { data: { tool_use_id: 'x', tool_name: 'y', tool_input: null } }],
    ['a prompt that is no text', 400, { type: 'user_prompt_submit', data: { prompt: 1 } }],
    ['an empty prompt', 200, { type: 'user_prompt_submit', data: { prompt: '' } }],
    ['an unknown source of a session', 200, { type: 'session_start', data: { source: 'else' } }],
    ['a tool that gave nothing', 200, { type: 'post_tool_use', data: { tool_use_id: 'x', tool_name: 'y' } }],
    ...['pre_compact', 'post_compact', 'stop'].map((type): [string, number, Spoiled] => [
      type,
      200,
      { type, data: {} },
    ]),
  ];
}
