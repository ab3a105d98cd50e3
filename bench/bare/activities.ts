import { request } from 'undici';

/** What the bare side needs of the store's client. */
export interface Appender {
  xAdd(stream: string, id: '*', fields: { event: string }): Promise<unknown>;
}

export interface BareActivities {
  /** Posts to the receiver, over a connection that is kept. */
  post(url: string): Promise<void>;
  /** One write that is on the disk when it is answered. */
  append(): Promise<void>;
}

export function createBareActivities(redis: Appender, body: string): BareActivities {
  return {
    async post(url) {
      const { statusCode, body: answer } = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      await answer.text();
      if (statusCode !== 200) throw new Error(`the receiver answered ${statusCode}`);
    },
    async append() {
      await redis.xAdd('bench', '*', { event: body });
    },
  };
}
