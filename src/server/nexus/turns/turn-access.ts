import type { TurnRecord } from '../../../domain/turn';
import type { TurnSnapshot } from '../../../store/turns';
import { HttpProblem } from '../../http/problem';
import type { CallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { visibleThread } from '../profile-access';
import { canBeId } from '../stored-id';
import { turnLocation } from './turn-location';

interface Place {
  readonly principal: NexusPrincipal;
  readonly threadId: string;
  readonly turnId: string;
}

/** The turn of a thread that the key may see; whatever else it is, the same 404. */
export async function findTurn({ principal, threadId, turnId }: Place): Promise<TurnSnapshot> {
  await visibleThread(principal, threadId);
  const found = canBeId(turnId) ? await principal.store.turns.read(turnId) : undefined;
  if (found?.record.threadId === threadId) return found;
  throw new HttpProblem('not-found', { detail: 'no such turn in this thread' });
}

/** Waits until a turn has ended or waits for an answer, for at most so many seconds. */
export async function awaitTurn(
  { store }: NexusPrincipal,
  record: TurnRecord,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<TurnRecord> {
  const until = Date.now() + seconds * 1_000;
  const listener = store.changes.listenToCall(record.id, 'every step');
  try {
    for (let current = record; ;) {
      const left = until - Date.now();
      if (current.status !== 'running' || left <= 0 || signal.aborted) return current;
      await listener.next(left, signal);
      current = (await store.turns.read(record.id))?.record ?? current;
    }
  } finally {
    listener.stop();
  }
}

/** Cancels a turn that has not ended, and waits for its end. Cancelling twice is cancelling once. */
export async function giveUpTurn(
  gateway: CallGateway,
  { principal, threadId, turnId }: Place,
  code: 'turn_cancelled' | 'thread_closed' = 'turn_cancelled',
): Promise<TurnRecord> {
  const { store, tenant, key } = principal;
  const found = await store.turns.read(turnId);
  if (found === undefined) throw new HttpProblem('not-found', { detail: 'no such turn in this thread' });
  const send = () => gateway.cancelTurn(tenant, turnId, { by: key.owner, code });
  let reached = await send();
  if (reached.kind === 'ended' && found.record.status === 'running') {
    // Stored, and not started yet: it is started to be ended in order.
    const started = await gateway.startTurn(found.start);
    reached = started.kind === 'started' ? await send() : started;
  }
  if (reached.kind === 'undecided' || reached.kind === 'unavailable') {
    throw new HttpProblem(reached.kind === 'unavailable' ? 'unavailable' : 'decision-timeout', {
      detail: 'it is not known yet whether the turn was given up; ask again at Location',
      extensions: { turnId, threadId },
      headers: { Location: turnLocation(threadId, turnId), 'Retry-After': '2' },
    });
  }
  const { record } = (await store.turns.read(turnId)) ?? found;
  if (record.status === 'cancelled') return record;
  throw new HttpProblem('turn-ended', {
    detail: `the turn is ${record.status}`,
    extensions: { turnId, turnStatus: record.status },
    headers: { Location: turnLocation(threadId, turnId) },
  });
}
