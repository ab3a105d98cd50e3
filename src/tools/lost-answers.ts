/** The answer to a request can no longer come. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost';

  constructor() {
    super('the connection ended before the answer came');
  }
}

/** How long after a stream's end its last message may still be on its way through the SDK. */
const SETTLE_MS = 250;

/**
 * Which answers can no longer come: the SDK waits for them until their time is over. A stream that has ended without ids
 * was the last that is heard of its request; one with ids is asked for again, and the request is lost when that fails.
 * Requests are told apart by a key that is part of what was posted.
 */
export class LostAnswers {
  private readonly waiting = new Map<string, { lose: () => void; resuming: boolean }>();

  /** `lost` rejects when the answer can no longer come; call `done` when it is there. */
  expect(key: string): { readonly lost: Promise<never>; readonly done: () => void } {
    const lost = new Promise<never>((_, reject) => {
      const lose = (): void => void setTimeout(() => reject(new AnswerLost()), SETTLE_MS);
      this.waiting.set(key, { lose, resuming: false });
    });
    lost.catch(() => undefined);
    return { lost, done: () => this.waiting.delete(key) };
  }

  /** The stream of the answer to a POST has ended, with or without the answer. */
  streamEnded(posted: string, canResume: boolean): void {
    for (const [key, request] of this.waiting) {
      if (!posted.includes(key)) continue;
      if (canResume) request.resuming = true;
      else request.lose();
    }
  }

  /** A stream could not be asked for again. */
  resumeFailed(): void {
    for (const request of this.waiting.values()) if (request.resuming) request.lose();
  }
}
