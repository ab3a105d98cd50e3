import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodedHistory } from '../support/decoded-history';
import { placesWith } from '../support/everywhere';
import { startReceiver, type Receiver } from '../support/receiver';
import { Scene, type SceneHook } from '../support/scene';
import { startStack, type Stack } from '../support/stack';
import { FAILURES, MARKER, type Failure } from './support-failures';

let stack: Stack;
let receiver: Receiver;
/** Where redirects lead. */
let inside: Server;
let reachedInside = 0;

beforeAll(async () => {
  stack = await startStack();
  receiver = await startReceiver();
  inside = createServer((_, response) => {
    reachedInside += 1;
    response.end('{"decision":"allow"}');
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await stack.stop();
  await receiver.close();
  inside.close();
});

/** Calls whose hook had failed, and those of them that went on nevertheless, by fail mode. */
const failed: Record<'fail_closed' | 'fail_open', { scene: Scene; callId: string }[]> = {
  fail_closed: [],
  fail_open: [],
};
const wentOn = { fail_closed: 0, fail_open: 0 };

async function failing(
  { url, behave, hook }: Failure,
  onFailure: 'fail_closed' | 'fail_open',
  point: SceneHook['point'],
) {
  const { port } = inside.address() as AddressInfo;
  receiver.behave((received, response) => {
    const writeHead = response.writeHead.bind(response);
    response.writeHead = ((status: number, headers?: Record<string, string>) =>
      writeHead(
        status,
        headers?.['location'] === undefined ? headers : { location: `http://localhost:${port}/` },
      )) as never;
    return behave?.(received, response);
  });
  const scene = await Scene.set(stack, [
    {
      id: 'guard',
      url: url?.(receiver.url) ?? receiver.url,
      retries: 1,
      onFailure,
      ...(point && { point }),
      ...hook,
    },
  ]);
  const made = await scene.call('t', { original: true });
  return { scene, made, callId: made.body.id as string };
}

describe.each(['fail_closed', 'fail_open'] as const)('under %s', (onFailure) => {
  test.each(FAILURES)('$kind is told as what it was, and $code', async (failure) => {
    const { outcome, code, attempts, deliveries = attempts } = failure;
    const { scene, made, callId } = await failing(failure, onFailure, undefined);
    failed[onFailure].push({ scene, callId });
    if (made.body.status === 'allowed') wentOn[onFailure] += 1;
    expect(made.status).toBe(200);
    if (onFailure === 'fail_closed') {
      expect(made.body).toMatchObject({
        status: 'denied',
        denial: {
          by: outcome === 'timeout' ? 'timeout' : 'hook_failure',
          hookId: 'guard',
          reason: { code },
          executed: false,
        },
      });
    } else {
      expect(made.body).toMatchObject({ status: 'allowed', input: { original: true } });
    }
    expect((await scene.read(callId)).body.status).toBe(made.body.status);

    const decisions = await scene.eventsOf(callId, 'hook_decision');
    expect(decisions.map(({ data }) => data)).toEqual([
      expect.objectContaining({
        outcome,
        decision: onFailure === 'fail_closed' ? 'deny' : 'defer',
        reason: expect.objectContaining({ code }),
        attempts,
        processor: 'url',
      }),
    ]);
    const seen = receiver.received.filter(({ input }) => input.callId === callId);
    expect(seen).toHaveLength(deliveries);
    expect(new Set(seen.map(({ input }) => input.deliveryId)).size).toBeLessThanOrEqual(1);
    expect(JSON.stringify([made.body, await scene.events()])).not.toContain(MARKER);
  });
});

test('no kind of failure lets the work happen under fail_closed, each does under fail_open, and no redirect was followed', () => {
  expect(failed.fail_closed).toHaveLength(FAILURES.length);
  expect(failed.fail_open).toHaveLength(FAILURES.length);
  expect(wentOn).toEqual({ fail_closed: 0, fail_open: FAILURES.length });
  expect(reachedInside).toBe(0);
});

test('what the receivers sent is nowhere: not in the store, not in any history', async () => {
  for (const { scene, callId } of [failed.fail_closed, failed.fail_open].flatMap((calls) => calls)) {
    expect(await decodedHistory(stack, callId)).not.toContain(MARKER);
    expect(JSON.stringify((await scene.thread()).body)).not.toContain(MARKER);
  }
  const [last] = failed.fail_open.slice(-1);
  expect(await placesWith(last!.scene, last!.callId, 'original')).toContain('call');
  expect(await placesWith(last!.scene, last!.callId, MARKER)).toEqual([]);
});

const AFTER = ['refused', 'reset mid-body', 'slow headers', 'status 500', '{}', 'a gzip bomb'];

const decisionsAfter = async (scene: Scene, callId: string) =>
  (await scene.eventsOf(callId, 'hook_decision')).map(({ data: { outcome, decision, attempts } }) => ({
    outcome,
    decision,
    attempts,
  }));

describe('after the tool', () => {
  test.each(FAILURES.filter(({ kind }) => AFTER.includes(kind)))(
    '$kind withholds the output under fail_closed',
    async (failure) => {
      const { scene, callId } = await failing(failure, 'fail_closed', 'after_tool_call');
      const told = await scene.output(callId, { output: 'RESULT' });
      expect(told.body).toMatchObject({
        status: 'denied',
        denial: {
          by: failure.outcome === 'timeout' ? 'timeout' : 'hook_failure',
          hookId: 'guard',
          reason: { code: failure.code },
          executed: true,
        },
      });
      expect(told.body).not.toHaveProperty('output');
      expect(await decisionsAfter(scene, callId)).toEqual([
        { outcome: failure.outcome, decision: 'deny', attempts: failure.attempts },
      ]);
      expect(JSON.stringify(told.body)).not.toContain('RESULT');
      expect(await placesWith(scene, callId, 'RESULT')).toEqual([]);
    },
  );

  test.each(FAILURES.filter(({ kind }) => AFTER.includes(kind)))(
    '$kind lets the output through under fail_open',
    async (failure) => {
      const { scene, callId } = await failing(failure, 'fail_open', 'after_tool_call');
      expect((await scene.output(callId, { output: 'RESULT' })).body).toMatchObject({
        status: 'completed',
        output: 'RESULT',
      });
      expect(await decisionsAfter(scene, callId)).toEqual([
        { outcome: failure.outcome, decision: 'defer', attempts: failure.attempts },
      ]);
    },
  );
});
