import type { Client } from './client';

export interface ReceivedEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: unknown;
}

/** Follows a `text/event-stream` and hands out its events in order. */
export interface EventStream {
  readonly status: number;
  /** The next `count` events; rejects when they are not there within five seconds. */
  take(count: number): Promise<ReceivedEvent[]>;
  /** What comes until the server ends the stream. */
  rest(): Promise<ReceivedEvent[]>;
  close(): void;
}

const PATIENCE_MS = 5_000;

export async function follow(
  client: Client,
  path: string,
  headers: Record<string, string> = {},
): Promise<EventStream> {
  const abort = new AbortController();
  const response = await fetch(client.url + path, {
    headers: { ...client.authorization, Accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  });
  const events = eventsOf(response);
  return {
    status: response.status,
    take: (count) => withPatience(takeFrom(events, count)),
    rest: () => withPatience(takeRest(events)),
    close: () => abort.abort(),
  };
}

async function takeFrom(events: AsyncGenerator<ReceivedEvent>, count: number): Promise<ReceivedEvent[]> {
  const taken: ReceivedEvent[] = [];
  while (taken.length < count) {
    const next = await events.next();
    if (next.done === true) throw new Error(`the stream ended after ${taken.length} of ${count} events`);
    taken.push(next.value);
  }
  return taken;
}

async function takeRest(events: AsyncGenerator<ReceivedEvent>): Promise<ReceivedEvent[]> {
  const rest: ReceivedEvent[] = [];
  for await (const event of events) rest.push(event);
  return rest;
}

async function withPatience<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the stream is silent')), PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function* eventsOf(response: Response): AsyncGenerator<ReceivedEvent> {
  if (response.body === null) throw new Error('the answer has no body');
  const decoder = new TextDecoder();
  let buffer = '';
  for await (const bytes of response.body) {
    buffer += decoder.decode(bytes as Uint8Array, { stream: true });
    const blocks = buffer.split('\n\n');
    buffer = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event !== undefined) yield event;
    }
  }
}

function parseBlock(block: string): ReceivedEvent | undefined {
  const fields = new Map(block.split('\n').map((line) => [line.split(': ')[0], line.replace(/^\w*: /, '')]));
  const [data, id, event] = ['data', 'id', 'event'].map((name) => fields.get(name));
  if (data === undefined) return undefined;
  return {
    ...(id !== undefined && { id }),
    ...(event !== undefined && { event }),
    data: JSON.parse(data) as unknown,
  };
}
