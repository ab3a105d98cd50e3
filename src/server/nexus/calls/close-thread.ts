import type { CallGateway } from '../../temporal';
import { HttpProblem } from '../../http/problem';
import type { NexusPrincipal } from '../nexus-principal';
import { giveUpTurn } from '../turns/turn-access';
import { visibleThread } from '../profile-access';
import { reachCall } from './reach-call';

/** Closing waits this long for the calls to end; the reconciler sees to what is left. */
const PATIENCE_MS = 10_000;
const AT_A_TIME = 8;

/** Closes a thread for new calls, cancels those that have not ended, and tells how many are left. */
export async function closeThread(
  gateway: CallGateway,
  { principal, threadId, signal }: { principal: NexusPrincipal; threadId: string; signal: AbortSignal },
): Promise<number> {
  const { store, tenant, key } = principal;
  await visibleThread(principal, threadId);
  await store.threads.close(threadId, { by: key.owner, at: new Date().toISOString() });

  const listener = store.changes.listen(threadId);
  try {
    const { turn } = await store.threads.readOpenWork(threadId);
    if (turn !== undefined) await endTurnOf(gateway, { principal, threadId, turnId: turn });
    const left = await store.threads.listOpenCalls(threadId);
    const cancelNext = async (): Promise<void> => {
      for (let callId = left.pop(); callId !== undefined; callId = left.pop()) {
        const cancel = { by: key.owner, code: 'thread_closed' } as const;
        await reachCall(gateway, { store, callId }, () => gateway.cancel(tenant, callId, cancel));
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, cancelNext));

    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const open = await store.threads.readOpenWork(threadId);
      const openCalls = open.openCalls + Number(open.turn !== undefined);
      const patience = until - Date.now();
      if (openCalls === 0 || patience <= 0 || signal.aborted) return openCalls;
      await listener.next(patience, signal);
    }
  } finally {
    listener.stop();
  }
}

/** A turn that ends by itself meanwhile has ended, too. */
async function endTurnOf(
  gateway: CallGateway,
  at: { principal: NexusPrincipal; threadId: string; turnId: string },
): Promise<void> {
  try {
    await giveUpTurn(gateway, at, 'thread_closed');
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
  }
}
