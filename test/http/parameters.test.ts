import fc from 'fast-check';
import { z } from 'zod';
import { cursorFor } from '../../src/server/http/cursor';
import { assertVersion, etagOf, matchesVersion, requireIfMatch } from '../../src/server/http/etag';
import { idempotencyKeyHeader } from '../../src/server/http/idempotency-key';
import { lastEventIdHeader } from '../../src/server/http/last-event-id';
import { cursorQuery, limitQuery, pageOf } from '../../src/server/http/page';
import { parsePrefer, preferenceApplied, preferHeader } from '../../src/server/http/prefer';
import { closeServers, defineRoute, problemOf, serve } from './fixture';

afterEach(closeServers);

const code = (problem: string) => expect.objectContaining({ code: problem }) as Error;

describe('Prefer', () => {
  test.each([
    [undefined, undefined],
    ['wait=5', 5],
    ['wait=0', 0],
    ['wait="7"', 7],
    ['WAIT = 5', 5],
    ['respond-async, wait=10', 10],
    ['wait=10; foo=bar, wait=20', 10],
    ['foo="a, wait=3", wait=4', 4],
    ['wait=61', 60],
    ['wait=99999999999999999999', 60],
    ['wait', undefined],
    ['wait=', undefined],
    ['wait=-1', undefined],
    ['wait=1.5', undefined],
    ['wait=5s', undefined],
    ['wait=1 2', undefined],
    ['waiting=5', undefined],
    [`wait=5, ${'x'.repeat(2000)}`, undefined],
  ])('%j waits %j seconds', (header, seconds) => {
    expect(parsePrefer(header).waitSeconds).toBe(seconds);
  });

  test('other preferences are read beside it', () => {
    const preferences = parsePrefer('pending=deny, respond-async, Quoted="a\\"b"; p=1');
    expect(['pending', 'respond-async', 'quoted', 'absent'].map(preferences.get)).toEqual([
      'deny',
      '',
      'a"b',
      undefined,
    ]);
  });

  test('no header makes it throw', () => {
    fc.assert(fc.property(fc.string(), (header) => void parsePrefer(header)));
  });

  test('what was honoured is said in the same form', () => {
    expect(preferenceApplied({ wait: 5, pending: 'deny', 'respond-async': '' })).toBe(
      'wait=5, pending=deny, respond-async',
    );
  });
});

describe('If-Match', () => {
  test.each([
    ['"7"', true],
    ['*', true],
    ['"6", "7"', true],
    ['"6"', false],
    ['W/"7"', false],
    ['"07"', false],
    ['"abc"', false],
    ['"17"', false],
  ])('%s matches version 7: %s', (header, matches) => {
    const expected = requireIfMatch(header);
    expect(matchesVersion(expected, 7)).toBe(matches);
    if (matches) assertVersion(expected, 7);
    else expect(() => assertVersion(expected, 7)).toThrow(code('precondition-failed'));
  });

  test('absent where it is needed is 428, garbled is 400', () => {
    expect(() => requireIfMatch(undefined)).toThrow(code('precondition-required'));
    for (const garbled of ['', '7', '"7', '"7" "8"', '*, "7"']) {
      expect(() => requireIfMatch(garbled)).toThrow(code('invalid-parameters'));
    }
  });

  test('a refused change is told the present ETag', () => {
    expect(() => assertVersion([1], 7)).toThrow(
      expect.objectContaining({ headers: { ETag: etagOf(7) } }) as Error,
    );
    expect(etagOf(7)).toBe('"7"');
  });
});

describe('cursors', () => {
  const threads = cursorFor('threads', z.tuple([z.number(), z.string()]));

  test('every place comes back as it was', () => {
    fc.assert(
      fc.property(fc.integer(), fc.string({ unit: 'grapheme' }), (at, id) => {
        const text = threads.encode([at, id]);
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(threads.decode(text)).toEqual([at, id]);
      }),
    );
  });

  test('a cursor of another list, or of another shape, is refused', () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64url');
    expect(threads.decode(base64('["threads",[1,"a"]]'))).toEqual([1, 'a']);
    for (const foreign of [
      cursorFor('waits', z.tuple([z.number(), z.string()])).encode([1, 'a']),
      base64('["threads",["1","a"]]'),
      base64('["threads",[1,"a"],0]'),
      base64('{"threads":[1,"a"]}'),
      base64('["threads", [1,"a"]]'),
      `${base64('["threads",[1,"a"]]')}=`,
      '',
      '!',
      'bm90IGpzb24',
    ]) {
      expect(() => threads.decode(foreign)).toThrow(code('invalid-cursor'));
    }
  });

  test('a garbled cursor is refused or never changes what it means', () => {
    const text = threads.encode([123_456, 'thread-1']);
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom('A', 'a', '0', '_', '-', '=', '+', '/', ' ', '.'),
        (at, put) => {
          const garbled = text.slice(0, at) + put + text.slice(at + 1);
          let place: [number, string] | undefined;
          try {
            place = threads.decode(garbled);
          } catch (error) {
            expect(error).toMatchObject({ code: 'invalid-cursor' });
          }
          if (place !== undefined) expect(threads.encode(place)).toBe(garbled);
        },
      ),
    );
  });
});

const list = defineRoute({
  method: 'GET',
  path: '/list',
  operationId: 'list',
  summary: 's',
  tags: ['t'],
  auth: 'none',
  query: z.object({ limit: limitQuery, cursor: cursorQuery }),
  headers: z.object({
    Prefer: preferHeader,
    'Last-Event-ID': lastEventIdHeader,
    'Idempotency-Key': idempotencyKeyHeader.optional(),
  }),
  responses: { 200: { description: 'ok', schema: pageOf(z.unknown()) } },
  handler: ({ query, headers }) => ({
    status: 200,
    body: {
      items: [query.limit, headers.Prefer.waitSeconds, headers['Last-Event-ID'], headers['Idempotency-Key']],
    },
  }),
});

test('a list without parameters has 50 items, no wait and no place to go on from', async () => {
  const { url } = await serve([list]);
  expect(await (await fetch(`${url}/list`)).json()).toEqual({ items: [50, null, null, null] });
});

test('the parameters reach the handler in their own types', async () => {
  const { url } = await serve([list]);
  const headers = { Prefer: 'wait=9', 'Last-Event-ID': '12', 'Idempotency-Key': '!~' };
  expect(await (await fetch(`${url}/list?limit=200`, { headers })).json()).toEqual({
    items: [200, 9, 12, '!~'],
  });
});

test.each(['0', '201', '1000', '-1', '1.5', '1e2', '', '+1', ' 1', '0x10'])(
  'limit=%s is refused',
  async (limit) => {
    const { url } = await serve([list]);
    const response = await fetch(`${url}/list?limit=${encodeURIComponent(limit)}`);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ errors: [{ in: 'query', pointer: '/limit' }] });
  },
);

test.each([
  ['Idempotency-Key', 'a b'],
  ['Idempotency-Key', 'x'.repeat(256)],
  ['Idempotency-Key', 'é'],
  ['Last-Event-ID', 'abc'],
  ['Last-Event-ID', '-1'],
])('%s: %s is refused', async (name, value) => {
  const { url } = await serve([list]);
  const response = await fetch(`${url}/list`, { headers: { [name]: value } });
  expect(response.status).toBe(400);
  expect(await problemOf(response)).toMatchObject({ errors: [{ in: 'header', pointer: `/${name}` }] });
});
