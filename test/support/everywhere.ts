import { createClient } from 'redis';
import { decodedHistory } from './decoded-history';
import type { Scene } from './scene';
import { testServices } from './services';

/** Every place of the tenant that could hold a text: the whole store, decoded histories, events, streams and metrics. */
export async function placesWith(scene: Scene, callId: string, text: string): Promise<string[]> {
  const places: Record<string, string> = {
    ...(await storeOf(scene.stack.tenant)),
    history: await decodedHistory(scene.stack, callId),
    events: JSON.stringify(await scene.events()),
    call: JSON.stringify((await scene.read(callId)).body),
    'call for an approver': JSON.stringify(
      (await scene.approver.get(`/v1/threads/${scene.threadId}/tool-calls/${callId}`)).body,
    ),
    thread: JSON.stringify((await scene.thread()).body),
  };
  return Object.entries(places)
    .filter(([, content]) => content.includes(text))
    .map(([place]) => place);
}

/** All keys of a tenant with all they hold, as text. */
async function storeOf(tenant: string): Promise<Record<string, string>> {
  const redis = newClient();
  await redis.connect();
  try {
    const found: Record<string, string> = {};
    for await (const keys of redis.scanIterator({ MATCH: `pc:{${tenant}}*`, COUNT: 1_000 })) {
      for (const key of keys) found[key] = JSON.stringify(await contentOf(redis, key));
    }
    return found;
  } finally {
    await redis.close();
  }
}

const newClient = () => createClient({ url: testServices().redisUrl });

async function contentOf(redis: ReturnType<typeof newClient>, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hGetAll(key);
    case 'set':
      return redis.sMembers(key);
    case 'zset':
      return redis.zRange(key, 0, -1);
    case 'stream':
      return redis.xRange(key, '-', '+');
    default:
      throw new Error(`a key of a kind that nothing here writes: ${key}`);
  }
}
