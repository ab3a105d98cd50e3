import type { EventType, StoredEvent } from '../domain/audit';
import type { TenantSettings } from '../domain/settings';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { cut, type Page, type PageRequest } from './page';

const DAY_MS = 86_400_000;

type Fields = Readonly<Record<string, string>>;

/** An event of the tenant's audit: of a thread, or of none (as a changed profile). */
export interface AuditEntry {
  /** Place in the tenant's audit. */
  readonly cursor: string;
  readonly threadId?: string;
  readonly event: StoredEvent;
}

export class Events {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  /** Events of a thread after the `seq` that `page.after` names, in order. */
  async ofThread(threadId: string, page: PageRequest): Promise<Page<StoredEvent>> {
    const found =
      (await this.redis.xRange(
        this.keyspace.threadEvents(threadId),
        page.after === undefined ? '-' : `(${page.after}-0`,
        '+',
        { COUNT: page.limit + 1 },
      )) ?? [];
    const events = found.map(({ id, message }) => threadEvent(id, message));
    return cut(events, page.limit, ({ seq }) => String(seq));
  }

  /** Events of the whole tenant, in the order in which they were stored. */
  async audit(page: PageRequest): Promise<Page<AuditEntry>> {
    const found =
      (await this.redis.xRange(this.keyspace.audit, page.after === undefined ? '-' : `(${page.after}`, '+', {
        COUNT: page.limit + 1,
      })) ?? [];
    const slice = cut(found, page.limit, ({ id }) => id);
    const entries = await Promise.all(slice.items.map(({ id, message }) => this.entry(id, message)));
    return { ...slice, items: entries };
  }

  /** Forgets the oldest entries of the tenant's audit. `now`: milliseconds since the epoch. */
  async trimAudit({ auditDays, auditEvents }: TenantSettings['retention'], now: number): Promise<void> {
    const { audit } = this.keyspace;
    if (auditDays !== undefined) await this.redis.xTrim(audit, 'MINID', now - auditDays * DAY_MS);
    if (auditEvents !== undefined) await this.redis.xTrim(audit, 'MAXLEN', auditEvents);
  }

  private async entry(cursor: string, index: Fields): Promise<AuditEntry> {
    const { thread, seq } = index;
    if (thread === undefined || seq === undefined) {
      return { cursor, event: storedEvent(0, index) };
    }
    const [found] =
      (await this.redis.xRange(this.keyspace.threadEvents(thread), `${seq}-0`, `${seq}-0`)) ?? [];
    if (found === undefined) throw new Error(`event ${seq} of thread ${thread} is indexed but not stored`);
    return { cursor, threadId: thread, event: threadEvent(found.id, found.message) };
  }
}

function threadEvent(streamId: string, fields: Fields): StoredEvent {
  return storedEvent(Number(streamId.split('-')[0]), fields);
}

function storedEvent(seq: number, { id = '', type = '', at = '', data = '{}' }: Fields): StoredEvent {
  // What is in the stream was written by our own scripts from an EventDraft.
  return { seq, id, type: type as EventType, at, data: JSON.parse(data) as StoredEvent['data'] };
}
