import type { ToolProgress } from '../../../store/change-feed';

/** First shortly after the start, then so often. */
const FIRST_MS = 1_000;
const EVERY_MS = 5_000;

export type Notify = (progress: { progress: number; total?: number; message?: string }) => Promise<void>;

/**
 * Tells a client that waits what for: soon, and then at regular intervals, whether or not something has changed. What a
 * tool says of its own progress is passed on. The numbers only grow (MCP 2025-11-25, "Progress"): before the tool speaks
 * they are the seconds that have passed, and what the tool says is added to those.
 */
export class Progress {
  private readonly began = performance.now();
  private message = 'Being decided';
  private last = 0;
  private base: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly notify: Notify | undefined) {
    if (notify !== undefined) this.schedule(FIRST_MS);
  }

  say(message: string): void {
    this.message = message;
  }

  toolSays({ progress, total }: ToolProgress): void {
    this.base ??= this.last;
    const value = this.base + progress;
    if (value < this.last) return;
    this.send({ progress: value, ...(total !== undefined && { total: this.base + total }) });
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private schedule(ms: number): void {
    this.timer = setTimeout(() => {
      const seconds = Math.round((performance.now() - this.began) / 100) / 10;
      if (this.base === undefined) this.send({ progress: seconds, message: this.message });
      this.schedule(EVERY_MS);
    }, ms);
  }

  private send(told: Parameters<Notify>[0]): void {
    this.last = told.progress;
    this.notify?.(told).catch(() => undefined);
  }
}
