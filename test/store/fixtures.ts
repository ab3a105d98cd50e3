import { randomUUID } from 'node:crypto';
import { createClient } from 'redis';
import type { Hook } from '../../src/domain/hook';
import type { JsonValue } from '../../src/domain/json-value';
import type { Profile } from '../../src/domain/profile';
import { inlineSubject } from '../../src/domain/subject';
import type { ToolCallStart } from '../../src/domain/call';
import { answerCall } from '../../src/domain/call-answer';
import { cancelCall, openCall } from '../../src/domain/call-machine';
import type { Outcome } from '../../src/domain/call-outcome';
import type { CallState } from '../../src/domain/call-state';
import type { Transition } from '../../src/domain/transition';
import type { WaitAnswer } from '../../src/domain/wait';
import type { Page, PageRequest } from '../../src/store/page';
import { openTenantStore, type TenantStore } from '../../src/store/tenant-store';
import { testServices } from '../support/services';

export const AT = '2026-01-01T00:00:00.000Z';
export const NOW = Date.parse(AT);
export const OWNER = 'agent';

export const newTenant = (): string => `t-${randomUUID().slice(0, 13)}`;

export const openStore = (tenant: string, url = testServices().redisUrl): Promise<TenantStore> =>
  openTenantStore({ tenant, url, onError: () => undefined });

/** A connection of the test's own, to look behind the store. */
export async function openRedis(url = testServices().redisUrl) {
  const redis = createClient({ url });
  redis.on('error', () => undefined);
  await redis.connect();
  return redis;
}
export type Redis = Awaited<ReturnType<typeof openRedis>>;

export async function keysOf(redis: Redis, tenant: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const found of redis.scanIterator({ MATCH: `pc:{${tenant}}:*`, COUNT: 1_000 }))
    keys.push(...found);
  return keys.sort();
}

/** Everything that is stored under the tenant's keys, as text. */
export async function dumpOf(redis: Redis, tenant: string): Promise<string> {
  const parts: string[] = [];
  for (const key of await keysOf(redis, tenant)) {
    const type = await redis.type(key);
    const value =
      type === 'hash'
        ? await redis.hGetAll(key)
        : type === 'set'
          ? (await redis.sMembers(key)).sort()
          : type === 'zset'
            ? await redis.zRangeWithScores(key, 0, -1)
            : type === 'stream'
              ? await redis.xRange(key, '-', '+')
              : await redis.get(key);
    parts.push(`${key} ${JSON.stringify(value)}`);
  }
  return parts.join('\n');
}

/** Loses everything that is stored for one tenant. */
export async function loseTenant(redis: Redis, tenant: string): Promise<void> {
  const keys = await keysOf(redis, tenant);
  if (keys.length > 0) await redis.del(keys);
}

export const gate = (id = 'gate', minApprovals = 1): Hook => ({
  id,
  point: 'before_tool_call',
  processor: { type: 'client', asyncTimeoutMs: 60_000, minApprovals, allowSelfApproval: false },
  onFailure: 'fail_closed',
  mode: 'enforce',
});

/** One that is asked by HTTP. */
export const urlHook = (id = 'url'): Hook => ({
  ...gate(id),
  processor: {
    type: 'url',
    url: 'https://hook.example/',
    timeoutMs: 1_000,
    retries: 0,
    asyncTimeoutMs: 60_000,
  },
});

export const profileOf = (id: string, version = 1, name = 'p'): Profile => ({
  id,
  name,
  version,
  configuration: {
    hooks: [gate()],
    permissions: [],
    unmatchedTools: 'allow' as const,
    tools: [],
    timeouts: { outputTimeoutMs: 60_000, approvalGrantTtlMs: 3_600_000 },
  },
  createdAt: AT,
  updatedAt: AT,
});

/** A new thread under a new profile. */
export async function newThread(
  store: TenantStore,
  id: string = randomUUID(),
  owner = OWNER,
): Promise<string> {
  const profileId = randomUUID();
  await store.profiles.put(profileOf(profileId), { change: 'created', by: 'root' });
  await store.threads.create({ id, profileId, owner, metadata: { of: id }, createdAt: AT });
  return id;
}

export function startIn(
  threadId: string,
  hooks: readonly Hook[] = [gate()],
  value: JsonValue = 1,
): ToolCallStart {
  return {
    tenant: 'not looked at',
    callId: randomUUID(),
    threadId,
    profile: {
      id: 'profile',
      version: 1,
      hooks: hooks.map((hook, index) => ({ index, hook })),
      timeouts: { outputTimeoutMs: 60_000 },
    },
    tool: 't',
    execution: 'caller',
    subject: inlineSubject({ point: 'before_tool_call', tool: 't', value }),
    requestDigest: '-',
    requestedBy: { owner: OWNER, keyId: '-' },
    operatorSignal: true,
    createdAt: AT,
    storedAsAllowed: false,
  };
}

export interface ParkedCall {
  readonly start: ToolCallStart;
  readonly opened: Transition;
  readonly waitId: string;
}

/** A call whose first step, a wait, is stored. */
export async function park(
  store: TenantStore,
  threadId: string,
  hooks?: readonly Hook[],
): Promise<ParkedCall> {
  const start = startIn(threadId, hooks);
  const opened = openCall(start, NOW);
  await store.calls.commit(opened, { start });
  return { start, opened, waitId: `${start.callId}-w1` };
}

export function stepOf<Reply>(outcome: Outcome<Reply>): Transition {
  if (outcome.kind !== 'step') throw new Error(`a reply without a step: ${JSON.stringify(outcome.reply)}`);
  return outcome.transition;
}

export const cancelled = (start: ToolCallStart, state: CallState): Transition =>
  stepOf(cancelCall(start, state, { input: { by: 'x', code: 'call_cancelled' }, now: NOW + 1 }));

/** What a person's answer to the open wait leads to. */
export function answered(
  start: ToolCallStart,
  state: CallState,
  owner: string,
  answer: WaitAnswer,
): Transition {
  const input = {
    waitId: state.wait?.wait.id ?? 'none',
    answerId: `${owner} ${state.n}`,
    answerDigest: '-',
    answer,
    principal: { owner, scopes: ['waits:resolve' as const] },
  };
  return stepOf(answerCall(start, state, { input, now: NOW + 2 }));
}

export async function everyPage<Item>(
  list: (page: PageRequest) => Promise<Page<Item>>,
  limit: number,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Item[]> {
  const items: Item[] = [];
  let page = await list({ limit });
  for (;;) {
    items.push(...page.items);
    if (page.next === undefined) return items;
    if (page.items.length !== limit) throw new Error('only the last page may be short');
    await between();
    page = await list({ limit, after: page.next });
  }
}

export const eventTypes = async (store: TenantStore, threadId: string): Promise<string[]> =>
  (await store.events.ofThread(threadId, { limit: 1_000 })).items.map(({ type }) => type);
