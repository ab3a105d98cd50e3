import { setTimeout as sleep } from 'node:timers/promises';
import { openWay } from '../nexus/cuttable-way';
import { testServices } from '../support/services';
import { expectOneOutcome, FINISHED, PARKED, RESOLVED } from './one-outcome';
import { playOnOwnServers } from './private-servers';
import { playScene } from './scene';
import { scenarios } from './scenarios';
import {
  askToPay,
  eventually,
  expectAddressed,
  park,
  parkedAt,
  reportOutput,
  resolve,
  untilTold,
} from './told';

/** The store is SIGKILLed, or out of the worker's reach. Nothing that it said was written is gone afterwards. */
const ALLOW = { decision: 'allow', key: 'k1' } as const;
const WHOLE = { status: 'completed', events: [...PARKED, ...RESOLVED, ...FINISHED] } as const;
const IMPATIENT = { decisionTimeoutMs: 1_500 };

scenarios('a wait is still there and is resolved after the store was killed under it', () =>
  playOnOwnServers({ hooks: [{}] }, async (scene, servers) => {
    const { agent, ann, calls, store } = scene;
    await scene.worker();
    const parked = await park(agent, calls);
    await servers.restart('redis');
    await eventually(() => store.ping());
    expect((await ann.get('/v1/waits')).body).toMatchObject({ items: [{ id: parked.waitId }] });
    const resolved = await untilTold(() => resolve(ann, parked, ALLOW));
    expect(resolved).toMatchObject({ status: 200, body: { outcome: { by: ['ann'] } } });
    await untilTold(() => reportOutput(agent, parked.location));
    await expectOneOutcome(scene, parked.location, WHOLE);
  }),
);

scenarios(
  'a call whose store dies while it is decided is answered with its address, and parks by itself',
  () =>
    playOnOwnServers({ hooks: [{}], ...IMPATIENT }, async (scene, servers) => {
      const { agent, ann, calls, store } = scene;
      const asking = askToPay(agent, calls, 'the-call');
      await sleep(500);
      await servers.kill('redis');
      const away = await asking;
      expect([503, 504]).toContain(away.status);
      expectAddressed(away);
      expect((await agent.get(away.headers.get('location') ?? '')).status).toBe(503);

      await servers.start('redis');
      await eventually(() => store.ping());
      await scene.worker();
      const parked = await eventually(async () => {
        const call = await agent.get(away.headers.get('location') ?? '');
        expect(call).toMatchObject({ status: 202, body: { pendingWaits: [{}] } });
        return parkedAt(call);
      });
      await untilTold(() => resolve(ann, parked, ALLOW));
      await untilTold(() => reportOutput(agent, parked.location));
      await expectOneOutcome(scene, parked.location, WHOLE);
    }),
);

scenarios('an answer that reached the workflow while the store was dead counts once the store is back', () =>
  playOnOwnServers({ hooks: [{}] }, async (scene, servers) => {
    const { agent, ann, bob, calls, client, store, tenant } = scene;
    await scene.worker();
    const parked = await park(agent, calls);
    await servers.kill('redis');
    await client.workflow
      .getHandle(`tool-call:${tenant}:${parked.callId}`)
      .signal('resolveWait', { waitId: parked.waitId, decision: 'allow' });
    await sleep(3_000);
    expect((await resolve(ann, parked, ALLOW)).status).toBe(503);
    await servers.start('redis');
    await eventually(() => store.ping());
    await eventually(async () => {
      expect((await agent.get(parked.location)).body).toMatchObject({ status: 'allowed' });
    });
    const late = await untilTold(() => resolve(bob, parked, { decision: 'deny', key: 'k2' }));
    expect(late).toMatchObject({ status: 409, body: { outcome: { by: ['temporal-operator'] } } });
    await untilTold(() => reportOutput(agent, parked.location));
    await expectOneOutcome(scene, parked.location, WHOLE);
  }),
);

scenarios('what a worker cannot store is told to nobody, and goes on by itself when it can', () =>
  playScene({ hooks: [{}], ...IMPATIENT }, async (scene) => {
    const { agent, ann, calls } = scene;
    const redisUrl = new URL(testServices().redisUrl);
    const way = await openWay(new URL(redisUrl));
    redisUrl.port = String(way.port);
    await scene.worker(undefined, redisUrl.href);
    try {
      await way.stop();
      const undecided = await askToPay(agent, calls, 'the-call');
      expect(undecided.status).toBe(504);
      expectAddressed(undecided);
      const location = undecided.headers.get('location') ?? '';
      const unstored = await agent.get(location);
      expect(unstored).toMatchObject({ status: 202, body: { status: 'waiting', pendingWaits: [] } });
      await way.start();
      const parked = await eventually(async () => {
        const call = await agent.get(location);
        expect(call.body).toMatchObject({ pendingWaits: [{}] });
        return parkedAt(call);
      });

      await way.stop();
      const untold = await resolve(ann, parked, ALLOW);
      expect(untold.status).toBe(504);
      expectAddressed(untold);
      expect(await agent.get(location)).toMatchObject({ status: 202, body: { status: 'waiting' } });
      await way.start();
      await eventually(async () => {
        expect((await agent.get(location)).body).toMatchObject({ status: 'allowed' });
      });
      const again = await untilTold(() => resolve(ann, parked, ALLOW));
      expect(again).toMatchObject({ status: 200, body: { outcome: { decision: 'allow', by: ['ann'] } } });
      await untilTold(() => reportOutput(agent, location));
      await expectOneOutcome(scene, location, WHOLE);
    } finally {
      await way.stop();
    }
  }),
);
