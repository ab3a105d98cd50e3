import type { JsonValue } from '../../../domain/json-value';
import type { Profile } from '../../../domain/profile';
import type { TenantSettings } from '../../../domain/settings';
import { turnRequestDigest, type TurnRecord } from '../../../domain/turn';
import { newTurn } from '../../../store/new-turn';
import type { ThreadRecord } from '../../../store/threads';
import type { TurnSnapshot } from '../../../store/turns';
import { HttpProblem } from '../../http/problem';
import type { CallGateway } from '../../temporal';
import { callIdFor } from '../calls/call-id';
import { readAhead, resolved, startBase } from '../calls/prepare-start';
import { threadClosed } from '../calls/same-request';
import type { NexusPrincipal } from '../nexus-principal';
import { visibleThread } from '../profile-access';
import { turnLocation } from './turn-location';

export interface StartTurn {
  readonly principal: NexusPrincipal;
  readonly threadId: string;
  readonly request: { readonly text: string; readonly actor?: JsonValue };
  readonly idempotencyKey: string | undefined;
}

/**
 * Stores a turn and starts its workflow. A repeat under an Idempotency-Key gets the turn as it is now. A thread has one
 * running turn at a time: the next one is asked for when its model can be told what came of the last.
 */
export async function startTurn(gateway: CallGateway, make: StartTurn): Promise<TurnRecord> {
  const { principal, threadId, request, idempotencyKey } = make;
  const { store, tenant, key } = principal;
  const ahead = readAhead(store, threadId);
  const { thread, closed } = await visibleThread(principal, threadId);
  const digest = turnRequestDigest(request);
  const turnId = callIdFor({ tenant, owner: key.owner, threadId, idempotencyKey });

  const known = idempotencyKey === undefined ? undefined : await store.turns.read(turnId);
  if (known !== undefined) {
    const record = sameTurn(known.record, digest);
    // The server that stored it may have died before it started the workflow.
    if (record.status === 'running') await demandStarted(gateway, known);
    return record;
  }
  if (closed) throw threadClosed();

  const { profile, settings } = await resolved(store, thread, ahead);
  const snapshot = await prepareTurn(principal, request, { thread, profile, settings, turnId, digest });
  const created = await store.turns.create(snapshot);
  if (created.kind !== 'created') {
    await store.blobs.discard(snapshot.start.input.callId, snapshot.start.input.subject.blob);
    if (created.kind === 'known') return sameTurn(created.record, digest);
    throw created.kind === 'thread_closed' ? threadClosed() : turnRunning(threadId, created.turnId);
  }
  await demandStarted(gateway, snapshot);
  // Nobody waits for this: the reconciler starts once more what is not confirmed, which changes nothing.
  setImmediate(() => void store.turns.confirmStarted(turnId).catch(() => undefined));
  return snapshot.record;
}

async function prepareTurn(
  { store, tenant, key }: NexusPrincipal,
  { text, actor }: StartTurn['request'],
  at: { thread: ThreadRecord; profile: Profile; settings: TenantSettings; turnId: string; digest: string },
): Promise<TurnSnapshot> {
  const { thread, profile, settings, turnId, digest } = at;
  const { model } = profile.configuration;
  if (model === undefined) throw noModel(profile.id);
  const by = startBase({ tenant, key, settings }, { callId: turnId, threadId: thread.id, digest, actor });
  return newTurn(store, { turnId, thread, profile, model, text, digest, by });
}

async function demandStarted(gateway: CallGateway, { record, start }: TurnSnapshot): Promise<void> {
  const started = await gateway.startTurn(start);
  if (started.kind === 'started') return;
  const { id, threadId } = record;
  throw new HttpProblem(started.kind === 'unavailable' ? 'unavailable' : 'decision-timeout', {
    detail: 'the turn is stored and runs as soon as the workflow service is there; ask again at Location',
    extensions: { turnId: id, threadId },
    headers: { Location: turnLocation(threadId, id), 'Retry-After': '2' },
    ...(started.kind === 'unavailable' && { cause: started.cause }),
  });
}

function sameTurn(record: TurnRecord, digest: string): TurnRecord {
  if (record.requestDigest === digest) return record;
  throw new HttpProblem('idempotency-key-reused', {
    detail: 'this Idempotency-Key was used in this thread for another request',
    extensions: { turnId: record.id, requestDigest: record.requestDigest },
    headers: { Location: turnLocation(record.threadId, record.id) },
  });
}

function turnRunning(threadId: string, turnId: string): HttpProblem {
  return new HttpProblem('turn-running', {
    detail: 'a turn of this thread is running; wait for its end, or give it up',
    extensions: { turnId },
    headers: { Location: turnLocation(threadId, turnId) },
  });
}

function noModel(profileId: string): HttpProblem {
  return new HttpProblem('no-model', {
    detail: "the thread's profile has no configuration.model, so no turn can be run here",
    extensions: { profileId },
  });
}
