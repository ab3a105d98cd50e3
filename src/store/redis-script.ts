import { createHash } from 'node:crypto';
import type { RedisConnection } from './connection';

/** A Lua script that runs as one atomic step. */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

/**
 * Declares a script. Redis does not roll a script back, but it checks memory, disk and replica state before a script's
 * first write and not after it, so a script either fails whole before it has written or runs to its end, as long as it
 * does all its checks first and never calls a command with arguments of the wrong kind.
 */
export function redisScript(source: string): RedisScript {
  return { source, sha1: createHash('sha1').update(source).digest('hex') };
}

/** Runs a script by its digest and sends its source only to a server that does not have it yet. */
export async function runScript(
  redis: RedisConnection,
  script: RedisScript,
  call: { keys: string[]; arguments: string[] },
): Promise<unknown> {
  try {
    return await redis.evalSha(script.sha1, call);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return redis.eval(script.source, call);
  }
}

/** A script's answer that is an array of strings, as all of ours are. */
export function stringsOf(reply: unknown): string[] {
  if (!Array.isArray(reply)) throw new TypeError('the script answered something other than an array');
  return reply.map(String);
}

/**
 * Lua: `append(thread, events, audit, thread_id, event_id, type, at, data)` gives an event its place in the thread and
 * indexes it for the whole tenant.
 */
export const APPEND_EVENT = `
local function append(thread, events, audit, thread_id, event_id, event_type, at, data)
  local seq = redis.call('HINCRBY', thread, 'seq', 1)
  redis.call('XADD', events, seq .. '-0', 'id', event_id, 'type', event_type, 'at', at, 'data', data)
  redis.call('XADD', audit, '*', 'thread', thread_id, 'seq', seq)
  return seq
end
`;
