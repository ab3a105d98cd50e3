import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { compactVerify, decodeProtectedHeader } from 'jose';
import {
  cutUtf8,
  encodeAnswer,
  LIMITS,
  readAnswer,
  signAnswer,
  type EventAnswer,
} from '../../src/coder/answer';
import { EVENT_TYPES, type EventType } from '../../src/coder/event';
import { readToken, secretBytes } from '../../src/coder/token';
import { NOW, SECRET, signed } from './fixture';

/**
 * What the sender takes, written down here once more and apart from the product: one JSON object, these members, these
 * sizes, and a permission only where one is allowed.
 */
function strictly(type: EventType, bytes: Buffer): void {
  if (bytes.length === 0) return;
  expect(bytes.length).toBeLessThanOrEqual(1_048_576);
  const value = JSON.parse(bytes.toString());
  expect(
    Object.keys(value).filter((name) => !['permission', 'model_context', 'user_message'].includes(name)),
  ).toEqual([]);
  for (const name of ['model_context', 'user_message']) {
    if (name in value) expect(Buffer.byteLength(value[name])).toBeLessThanOrEqual(16_384);
  }
  if (!('permission' in value)) return;
  expect(['user_prompt_submit', 'pre_tool_use']).toContain(type);
  const { decision, reason = '', input_override: override, ...rest } = value.permission;
  expect(rest).toEqual({});
  expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(4_096);
  if (decision === 'deny') expect(override).toBeUndefined();
  else {
    expect(decision).toBe('allow');
    expect(override ?? null).not.toBeNull();
    expect(Buffer.byteLength(JSON.stringify(override))).toBeLessThanOrEqual(262_144);
    if (type === 'user_prompt_submit') expect(override).toEqual({ prompt: expect.any(String) });
  }
}

const DECIDABLE = ['user_prompt_submit', 'pre_tool_use'] as const;

test.each(EVENT_TYPES)('no objection to %s is an empty object', (type) => {
  expect(encodeAnswer(type, {}).toString()).toBe('{}');
});

test.each(DECIDABLE)('a denial of %s holds its reason and nothing else', (type) => {
  const bytes = encodeAnswer(type, { permission: { decision: 'deny', reason: 'no' } });
  expect(bytes.toString()).toBe('{"permission":{"decision":"deny","reason":"no"}}');
  strictly(type, bytes);
});

test('a rewrite is an allow with the whole input', () => {
  const tool: EventAnswer = { permission: { decision: 'allow', input_override: { command: 'ls -l' } } };
  expect(encodeAnswer('pre_tool_use', tool).toString()).toBe(
    '{"permission":{"decision":"allow","input_override":{"command":"ls -l"}}}',
  );
  const prompt: EventAnswer = { permission: { decision: 'allow', input_override: { prompt: '' } } };
  expect(encodeAnswer('user_prompt_submit', prompt).toString()).toBe(
    '{"permission":{"decision":"allow","input_override":{"prompt":""}}}',
  );
});

test.each(['ä', '€', '𝄞', 'a'])(
  'texts of %s are cut within their bytes, and on the boundary of a character',
  (letter) => {
    for (const bytes of [
      LIMITS.modelContext - 1,
      LIMITS.modelContext,
      LIMITS.modelContext + 1,
      3 * LIMITS.modelContext,
    ]) {
      const text = letter.repeat(Math.ceil(bytes / Buffer.byteLength(letter)));
      const encoded = encodeAnswer('stop', { model_context: text, user_message: text });
      strictly('stop', encoded);
      const { model_context: kept } = JSON.parse(encoded.toString());
      expect(text.startsWith(kept)).toBe(true);
      expect(kept.isWellFormed()).toBe(true);
      if (Buffer.byteLength(text) <= LIMITS.modelContext) expect(kept).toBe(text);
      else expect(Buffer.byteLength(kept)).toBeGreaterThan(LIMITS.modelContext - 4);
    }
  },
);

test('a rewrite at the limit passes, and one byte more becomes a denial that says why', () => {
  for (const [more, decision] of [
    [0, 'allow'],
    [1, 'deny'],
  ] as const) {
    const input_override = 'x'.repeat(LIMITS.inputOverride - 2 + more);
    const bytes = encodeAnswer('pre_tool_use', { permission: { decision: 'allow', input_override } });
    strictly('pre_tool_use', bytes);
    expect(JSON.parse(bytes.toString()).permission.decision).toBe(decision);
  }
});

test.each([
  ['null', 'pre_tool_use', 'null'],
  ['an array', 'pre_tool_use', '[]'],
  ['HTML', 'pre_tool_use', '<html>'],
  ['two values', 'pre_tool_use', '{}{}'],
  ['a BOM', 'pre_tool_use', '\ufeff{}'],
  ['an unknown member', 'pre_tool_use', '{"ok":true}'],
  ['a problem document', 'pre_tool_use', '{"type":"about:blank","title":"x"}'],
  ['a member in another case', 'pre_tool_use', '{"Permission":{"decision":"deny"}}'],
  ['a repeated member', 'pre_tool_use', '{"user_message":"a","user_message":"b"}'],
  ['a permission for stop', 'stop', '{"permission":{"decision":"deny"}}'],
  ['an empty permission for stop', 'stop', '{"permission":{}}'],
  ['allow without an override', 'pre_tool_use', '{"permission":{"decision":"allow"}}'],
  ['allow with null', 'pre_tool_use', '{"permission":{"decision":"allow","input_override":null}}'],
  ['deny with an override', 'pre_tool_use', '{"permission":{"decision":"deny","input_override":1}}'],
  ['another decision', 'pre_tool_use', '{"permission":{"decision":"Allow","input_override":1}}'],
  ['ask', 'pre_tool_use', '{"permission":{"decision":"ask"}}'],
  ['an unknown member of permission', 'pre_tool_use', '{"permission":{"decision":"deny","x":1}}'],
  [
    'a prompt with more',
    'user_prompt_submit',
    '{"permission":{"decision":"allow","input_override":{"prompt":"a","x":1}}}',
  ],
  [
    'a prompt that is a text',
    'user_prompt_submit',
    '{"permission":{"decision":"allow","input_override":"a"}}',
  ],
  ['a number as text', 'stop', '{"model_context":1}'],
  ['a context that is too long', 'stop', JSON.stringify({ model_context: 'ä'.repeat(8_193) })],
] as const)('an answer that the sender would fail over is not passed on: %s', (_what, type, text) => {
  expect(readAnswer(type, Buffer.from(text)).ok).toBe(false);
});

test.each([
  ['nothing', ''],
  ['white space', ' \n'],
  ['an empty object', '{}'],
  ['a new line at the end', '{}\n'],
  ['nulls', '{"permission":null,"model_context":null}'],
])('no objection may be said as %s', (_what, text) => {
  expect(readAnswer('stop', Buffer.from(text))).toEqual({ ok: true, answer: {} });
});

test('whatever is to be said, what is sent is what the sender takes', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...EVENT_TYPES),
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.integer({ min: 0, max: 2_000 }),
      fc.jsonValue({ maxDepth: 4 }),
      (type, text, times, override) => {
        const decidable = type === 'pre_tool_use';
        const long = text.repeat(times);
        const answer: EventAnswer = {
          model_context: long,
          user_message: long,
          ...(decidable &&
            override !== null && {
              permission: { decision: 'allow' as const, input_override: override as never, reason: long },
            }),
        };
        strictly(type, encodeAnswer(type, answer));
      },
    ),
    { numRuns: 60 },
  );
});

test('cutting keeps a text that fits, and never leaves half a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, limit) => {
      const cut = cutUtf8(text, limit);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
      expect(text.toWellFormed().startsWith(cut)).toBe(true);
    }),
  );
});

test('an answer is signed with the secret that verified, over its exact bytes, with the claims of the request as they were', async () => {
  const claims = { aud: 'https://Hooks.example.com/x?y=1', iss: 'deployment-1' };
  const request = await signed({ claims });
  const secrets = [secretBytes('the-old-secret-that-is-still-accepted-for-now'), secretBytes(SECRET)];
  const reading = await readToken(request.authorization, { secrets, now: NOW });
  if (!reading.ok) throw new Error(reading.problem);
  for (const bytes of [Buffer.from('{}'), Buffer.alloc(0)]) {
    const signature = await signAnswer(reading.token, bytes, NOW + 0.7);
    const { payload } = await compactVerify(signature, secretBytes(SECRET));
    expect(decodeProtectedHeader(signature)).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual({
      iss: 'deployment-1',
      sub: `coder:chat:${request.chatId}`,
      aud: claims.aud,
      jti: request.dispatchId,
      type: 'pre_tool_use',
      body_sha256: createHash('sha256').update(bytes).digest('hex'),
      iat: NOW,
      nbf: NOW - 30,
      exp: NOW + 120,
    });
  }
});
