import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';
import { startToolServer, type ToolServer } from '../support/tool-server';

let stack: Stack;
let server: ToolServer;

beforeAll(async () => {
  stack = await startStack();
  server = await startToolServer();
});
afterAll(async () => {
  await server.close();
  await stack.stop();
});

test('a stored input that is not the approved one any more is not run, and the audit has no start of it', async () => {
  const tool = { kind: 'http', name: 'refund', method: 'POST', url: `${server.url}/refunds` };
  const at = await Scene.set(stack, [{ id: 'person' }], undefined, { tools: [tool] });
  const large = { orderId: '1', note: 'x'.repeat(100_000) };
  const headers = { 'idempotency-key': randomUUID() };
  const { body: made } = await at.call('refund', large, headers, { execution: 'server' });
  const input = (await stack.store.calls.readToolCall(made.id))?.state.call.input;
  if (input?.kind !== 'blob') throw new Error('an input of this size is kept as a blob');
  await stack.store.blobs.write(made.id, input.blob, { orderId: '2' });
  let waits = made.pendingWaits;
  while (waits.length === 0) {
    await sleep(20);
    waits = (await at.read(made.id)).body.pendingWaits;
  }

  await at.resolve(waits[0].id, { decision: 'allow' });

  const { body } = await at.read(made.id, 20);
  expect(body).toMatchObject({ status: 'failed', executed: false, error: { code: 'digest_mismatch' } });
  expect(await at.eventsOf(made.id, 'tool_started')).toEqual([]);
  expect(server.seen).toHaveLength(0);
});
