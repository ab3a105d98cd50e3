import { HttpProblem } from '../../http/problem';
import type { McpSession } from './session';

/** A session that nobody used for so long is forgotten; its client opens a new one. */
const IDLE_MS = 3_600_000;
const SWEEP_MS = 60_000;

/** Bounds the memory that clients which never end their sessions take up. */
const MOST_SESSIONS = 10_000;

interface Kept {
  readonly session: McpSession;
  readonly forget: () => void;
}

/** The open MCP sessions of this process. */
export class McpSessions {
  private readonly kept = new Map<string, Kept>();

  constructor(closing: AbortSignal) {
    const sweep = setInterval(() => this.sweep(), SWEEP_MS);
    sweep.unref();
    closing.addEventListener(
      'abort',
      () => {
        clearInterval(sweep);
        for (const id of [...this.kept.keys()]) this.remove(id);
      },
      { once: true },
    );
  }

  find(id: string): McpSession | undefined {
    return this.kept.get(id)?.session;
  }

  /** @throws HttpProblem when there are too many and none is idle */
  add(id: string, session: McpSession, forget: () => void): void {
    if (this.kept.size >= MOST_SESSIONS) this.removeOldest();
    this.kept.set(id, { session, forget });
  }

  remove(id: string): void {
    const kept = this.kept.get(id);
    if (kept === undefined) return;
    this.kept.delete(id);
    kept.forget();
    void kept.session.end();
  }

  private sweep(): void {
    const before = performance.now() - IDLE_MS;
    for (const [id, { session }] of this.kept) {
      if (session.busy === 0 && session.usedAt < before) this.remove(id);
    }
  }

  private removeOldest(): void {
    let oldest: { id: string; usedAt: number } | undefined;
    for (const [id, { session }] of this.kept) {
      const { busy, usedAt } = session;
      if (busy === 0 && (oldest === undefined || usedAt < oldest.usedAt)) oldest = { id, usedAt };
    }
    if (oldest === undefined) {
      throw new HttpProblem('unavailable', { detail: 'there are too many MCP sessions; try again later' });
    }
    this.remove(oldest.id);
  }
}
