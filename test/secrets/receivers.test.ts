import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signDelivery } from '../../src/secrets/signature';
import type { HookResult } from '../../docs/receivers/typescript/receiver';
import { pythonExample, startReceiver, typescriptExample, type RunningReceiver } from './receiver-process';

const SECRET = `whsec_${Buffer.from('a key of 32 bytes for the tests.').toString('base64')}`;
const RAW_SECRET = 'a raw secret of more than 24 bytes';
const MINUTE = 60_000;

interface Delivery {
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly callback?: { readonly url: string; readonly token: string; readonly expiresAt: string };
}

let made = 0;
const payment = (tool: string, amount: unknown, more: Partial<Delivery> = {}): Delivery => ({
  id: `dlv_${(made += 1)}`,
  tool,
  input: { amount, to: 'Zoë' },
  ...more,
});

const bodyOf = ({ id, ...delivery }: Delivery, attempt = 1): string =>
  JSON.stringify({
    deliveryId: id,
    hookId: 'payments',
    index: 0,
    point: 'before_tool_call',
    attempt,
    ...delivery,
  });

interface Sending {
  readonly attempt?: number;
  readonly at?: Date;
  readonly secrets?: readonly [string, ...string[]];
  readonly tamper?: (body: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function deliver(receiver: RunningReceiver, delivery: Delivery, how: Sending = {}) {
  const { attempt = 1, at = new Date(), secrets = [SECRET], tamper = (same) => same, headers = {} } = how;
  const body = bodyOf(delivery, attempt);
  const signed = signDelivery({ id: delivery.id, timestamp: at, body, secrets });
  const response = await fetch(receiver.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signed, ...headers },
    body: tamper(body),
  });
  const text = await response.text();
  return { status: response.status, result: text === '' ? undefined : (JSON.parse(text) as HookResult) };
}

const python = pythonExample();
if ('missing' in python) console.warn(`The Python receiver is not tested: ${python.missing}`);

describe.each([
  { language: 'TypeScript', example: typescriptExample() },
  { language: 'Python', example: python },
])('the receiver in $language', ({ example }) => {
  if ('missing' in example) {
    test.skip('needs python3, venv and PyPI', () => undefined);
    return;
  }

  let receiver: RunningReceiver;
  beforeAll(async () => {
    receiver = await startReceiver(example, SECRET);
  });
  afterAll(() => receiver.stop());

  test.each<[string, Delivery, HookResult]>([
    ['leaves other tools to the next hook', payment('files.read', 1), { decision: 'defer' }],
    ['leaves a small payment to the next hook', payment('payments.transfer', 1_000), { decision: 'defer' }],
    [
      'denies a payment above the limit',
      payment('payments.transfer', 10_001),
      { decision: 'deny', reason: 'no payment may exceed 10000' },
    ],
    [
      'denies an amount that it cannot compare',
      payment('payments.transfer', '1'),
      { decision: 'deny', reason: 'amount must be a number' },
    ],
    [
      'caps a refund',
      payment('payments.refund', 501),
      { decision: 'defer', updatedInput: { amount: 500, to: 'Zoë' } },
    ],
    [
      'asks a person where it cannot answer later',
      payment('payments.transfer', 1_001),
      { decision: 'ask', reason: 'a person approves payments above 1000' },
    ],
  ])('%s', async (_what, delivery, result) => {
    expect(await deliver(receiver, delivery)).toEqual({ status: 200, result });
  });

  test('a tampered delivery is answered 401', async () => {
    const tamper = (body: string) => body.replace('10001', '10000');
    expect(await deliver(receiver, payment('payments.transfer', 10_001), { tamper })).toMatchObject({
      status: 401,
    });
  });

  test.each([-6 * MINUTE, 6 * MINUTE])('a delivery of another time (%i ms) is answered 401', async (skew) => {
    const at = new Date(Date.now() + skew);
    expect(await deliver(receiver, payment('files.read', 1), { at })).toMatchObject({ status: 401 });
  });

  test.each([
    { 'webhook-signature': 'v1' },
    { 'webhook-signature': 'v1,é===' },
    { 'webhook-signature': ',,, v1,x' },
    { 'webhook-timestamp': 'soon' },
    { 'webhook-timestamp': 'nan' },
    { 'webhook-id': 'dlv_another' },
    { 'webhook-id': '' },
  ])('a delivery with %j is answered 401', async (headers) => {
    expect(await deliver(receiver, payment('files.read', 1), { headers })).toMatchObject({ status: 401 });
  });

  test('a delivery signed with another secret is answered 401, one signed with both is accepted', async () => {
    const delivery = payment('files.read', 1);
    expect(await deliver(receiver, delivery, { secrets: [RAW_SECRET] })).toMatchObject({ status: 401 });
    expect(await deliver(receiver, delivery, { secrets: [RAW_SECRET, SECRET] })).toMatchObject({
      status: 200,
    });
  });

  test('a body above 4 MiB is refused', async () => {
    const delivery = payment('files.read', 'x'.repeat(4 * 1024 * 1024));
    // Python answers before it has read all, and the connection may end before the answer arrives.
    const answer = await deliver(receiver, delivery).catch(() => ({ status: 413 }));
    expect(answer.status).toBe(413);
  });

  test('a repeated delivery gets the same answer', async () => {
    const first = payment('payments.transfer', 10_001);
    const answer = await deliver(receiver, first);
    expect(await deliver(receiver, first, { attempt: 2 })).toEqual(answer);
    // Only a receiver that remembers the id gives the old answer to a body that it would judge otherwise.
    expect(await deliver(receiver, { ...first, tool: 'files.read' }, { attempt: 3 })).toEqual(answer);
  });

  test('a later answer is sent once, to the callback with its token', async () => {
    const calls: unknown[] = [];
    const service = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { authorization, 'content-type': type } = request.headers;
        const { method, url } = request;
        calls.push({ method, url, authorization, type, body: JSON.parse(Buffer.concat(chunks).toString()) });
        response.end('{}');
        service.emit('called');
      });
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    try {
      const called = once(service, 'called');
      const delivery = payment('payments.transfer', 5_000, {
        callback: {
          url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1/deliveries/dlv_later`,
          token: 'pct_token',
          expiresAt: new Date(Date.now() + MINUTE).toISOString(),
        },
      });
      expect(await deliver(receiver, delivery)).toEqual({ status: 202, result: undefined });
      expect(await deliver(receiver, delivery, { attempt: 2 })).toEqual({ status: 202, result: undefined });
      await called;
      expect(calls).toEqual([
        {
          method: 'POST',
          url: '/v1/deliveries/dlv_later',
          authorization: 'Bearer pct_token',
          type: 'application/json',
          body: { decision: 'allow', reason: 'reviewed' },
        },
      ]);
    } finally {
      service.closeAllConnections();
      service.close();
    }
  });

  test('a secret that is not base64 is a raw key', async () => {
    const raw = await startReceiver(example, RAW_SECRET);
    try {
      expect(await deliver(raw, payment('files.read', 1), { secrets: [RAW_SECRET] })).toMatchObject({
        status: 200,
      });
    } finally {
      await raw.stop();
    }
  });
});
