import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Api } from '../support/api';

const PATIENCE_MS = 60_000;

/**
 * What a well-behaved client does: asks again, under the same Idempotency-Key, for as long as it is told that nothing
 * is known yet. Every such answer says where the call is found. Gives the answer that it was told in the end.
 */
export async function untilTold(ask: () => Promise<Answer>): Promise<Answer> {
  for (const until = Date.now() + PATIENCE_MS; ; await sleep(200)) {
    const answer = await ask();
    if (answer.status !== 503 && answer.status !== 504) return answer;
    expectAddressed(answer);
    if (Date.now() > until) throw new Error(`still ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
}

/** A 503 or 504 while a call is being decided: nothing is lost, ask again there. */
export function expectAddressed(answer: Answer): void {
  expect(answer.body).toMatchObject({ callId: expect.any(String) as string });
  expect(answer.headers.get('location')).toContain(answer.body.callId);
}

/** Waits until something holds that a message to somebody else brings about. */
export async function eventually<Result>(check: () => Promise<Result>): Promise<Result> {
  for (const until = Date.now() + PATIENCE_MS; ; await sleep(100)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}

export interface Parked {
  readonly location: string;
  readonly callId: string;
  readonly waitId: string;
  readonly subjectDigest: string;
}

/** Asks for the tool `pay`, which every hook of a scene guards; `key` is the Idempotency-Key. */
export function askToPay(agent: Api, calls: string, key: string): Promise<Answer> {
  return agent.post(calls, { tool: 'pay', input: { amount: 100 } }, { 'Idempotency-Key': key });
}

/** Makes a call that parks, and says where it is found. */
export async function park(agent: Api, calls: string, key = 'the-call'): Promise<Parked> {
  const answer = await untilTold(() => askToPay(agent, calls, key));
  expect(answer).toMatchObject({ status: 202, body: { status: 'waiting', pendingWaits: [{}] } });
  return parkedAt(answer);
}

export function parkedAt({ headers, body }: Answer): Parked {
  return {
    location: headers.get('location') ?? '',
    callId: body.id as string,
    waitId: body.pendingWaits[0].id as string,
    subjectDigest: body.subjectDigest as string,
  };
}

/** Answers the wait of a parked call; `key` is the Idempotency-Key. */
export function resolve(
  api: Api,
  { location, waitId, subjectDigest }: Parked,
  { decision, key }: { decision: 'allow' | 'deny' | 'defer'; key: string },
): Promise<Answer> {
  const thread = location.slice(0, location.indexOf('/tool-calls/'));
  return api.post(
    `${thread}/waits/${waitId}/resolve`,
    { decision, subjectDigest },
    { 'Idempotency-Key': key },
  );
}

export function reportOutput(agent: Api, location: string): Promise<Answer> {
  return agent.post(`${location}/output`, { output: { paid: 100 } });
}
