import type { LifecycleEvent } from '../domain/audit';
import type { AuditedEvents } from './audited-events';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { redisScript, runScript, stringsOf } from './redis-script';

/** How long the answer to a dispatch is kept for its repetition; much longer than the sender repeats. In seconds. */
const KEPT_S = 3_600;

/** How long a prompt that was answered as pending is found again. In seconds. */
const PROMPT_S = 2 * 86_400;

/** The first answer to a dispatch stands; it is stored with its event, before anybody is told. */
const KEEP = redisScript(`
local known = redis.call('GET', KEYS[1])
if known then return {'known', known} end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
redis.call('XADD', KEYS[2], '*', 'id', ARGV[3], 'type', 'lifecycle_event', 'at', ARGV[4], 'data', ARGV[5])
return {'kept', ARGV[1]}
`);

/** Answers to Coder's dispatches, and their audit. */
export class Dispatches {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
    private readonly audited: AuditedEvents,
  ) {}

  /** The answer to a dispatch, as JSON text. */
  async read(dispatchId: string): Promise<string | undefined> {
    return (await this.redis.get(this.keyspace.dispatch(dispatchId))) ?? undefined;
  }

  /** @returns the answer that stands, which another process may have stored first */
  async keep(answer: string, event: LifecycleEvent, at: string): Promise<string> {
    const { keyspace } = this;
    const data = await this.dataOf(event);
    const [, stands = answer] = stringsOf(
      await runScript(this.redis, KEEP, {
        keys: [keyspace.dispatch(event.dispatchId), keyspace.audit],
        arguments: [answer, String(KEPT_S), idOf(event), at, data],
      }),
    );
    return stands;
  }

  /** Adds an event that was refused to the audit; a repetition of it may still be answered. */
  async note(event: LifecycleEvent, at: string): Promise<void> {
    const data = await this.dataOf(event);
    const entry = { id: `${idOf(event)}:refused`, type: 'lifecycle_event', at, data };
    await this.redis.xAdd(this.keyspace.audit, '*', entry);
  }

  /** Makes a prompt that was answered as pending to be found by the same one in its chat. */
  async parkPrompt(identity: string, textId: string): Promise<void> {
    await this.redis.set(this.keyspace.parkedPrompt(identity), textId, {
      expiration: { type: 'EX', value: PROMPT_S },
    });
  }

  async findPrompt(identity: string): Promise<string | undefined> {
    return (await this.redis.get(this.keyspace.parkedPrompt(identity))) ?? undefined;
  }

  /** @returns whether this caller took it: the decision is handed out once */
  async takePrompt(identity: string): Promise<boolean> {
    return (await this.redis.getDel(this.keyspace.parkedPrompt(identity))) !== null;
  }

  private async dataOf(event: LifecycleEvent): Promise<string> {
    const [{ data } = { data: '' }] = await this.audited.prepare(event.dispatchId, [
      { type: 'lifecycle_event', data: event },
    ]);
    return data;
  }
}

function idOf({ dispatchId }: LifecycleEvent): string {
  return `dispatch:${dispatchId}`;
}
