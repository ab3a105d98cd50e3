import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/** What is kept of a session's streams, at most. */
const MOST_EVENTS = 1_000;
const MOST_BYTES = 8 * 1024 * 1024;

interface KeptEvent {
  readonly streamId: string;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
}

/**
 * The last messages of one session, so that a client whose connection broke asks on with `Last-Event-ID` and gets what it
 * missed (MCP 2025-11-25, "Resumability and Redelivery"). In memory, as the session is; the oldest are forgotten.
 */
export class SessionEvents implements EventStore {
  private readonly kept = new Map<string, KeptEvent>();
  private bytes = 0;
  private count = 0;

  storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    this.count += 1;
    const eventId = String(this.count);
    const bytes = JSON.stringify(message).length;
    this.kept.set(eventId, { streamId, message, bytes });
    this.bytes += bytes;
    for (const [id, event] of this.kept) {
      if (this.kept.size <= MOST_EVENTS && this.bytes <= MOST_BYTES) break;
      this.kept.delete(id);
      this.bytes -= event.bytes;
    }
    return Promise.resolve(eventId);
  }

  getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return Promise.resolve(this.kept.get(eventId)?.streamId);
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const streamId = this.kept.get(lastEventId)?.streamId ?? '';
    let after = false;
    for (const [eventId, event] of this.kept) {
      // The first event of a stream only gives it an id.
      const isEmpty = !('jsonrpc' in event.message);
      if (after && event.streamId === streamId && !isEmpty) await send(eventId, event.message);
      after ||= eventId === lastEventId;
    }
    return streamId;
  }
}
