import { condition, defineUpdate, proxyLocalActivities, setHandler, sleep } from '@temporalio/workflow';
import type { BareActivities } from './activities';

/**
 * The least that Temporal needs for the same work, without rules, audit or HTTP: what every row is compared with. None of
 * these workflows ends by itself; the bench ends them.
 */
const local = proxyLocalActivities<BareActivities>({
  scheduleToCloseTimeout: '5 s',
  retry: { maximumAttempts: 1 },
});

export const decided = defineUpdate('decided');
export const resolved = defineUpdate('resolved');

/** Asks a receiver once, in a local activity, then waits with a timer. */
export async function askedOnce(url: string): Promise<void> {
  let done = false;
  setHandler(decided, () => condition(() => done));
  await local.post(url);
  done = true;
  await sleep('1 hour');
}

/** Parks; an update makes one write to the store. */
export async function parked(): Promise<void> {
  setHandler(decided, () => undefined);
  setHandler(resolved, () => local.append());
  await sleep('1 hour');
}

/** Does nothing but wait with a timer. */
export async function started(): Promise<void> {
  setHandler(decided, () => undefined);
  await sleep('1 hour');
}
