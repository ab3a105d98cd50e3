import { textRequestDigest, type TextStart } from '../domain/call';
import { callFacts } from '../domain/call-facts';
import type { JsonValue } from '../domain/json-value';
import type { ModelConfiguration } from '../domain/model-schema';
import { pinForText, type Profile } from '../domain/profile';
import { inputIdOf, type TurnRecord, type TurnStart } from '../domain/turn';
import { keepQuarantined } from './keep-subject';
import type { TenantStore } from './tenant-store';
import type { ThreadRecord } from './threads';
import type { TurnSnapshot } from './turns';

export interface NewTurn {
  readonly turnId: string;
  readonly thread: ThreadRecord;
  readonly profile: Profile;
  readonly model: ModelConfiguration;
  readonly text: string;
  /** Of the request. */
  readonly digest: string;
  readonly by: Pick<
    TextStart,
    'tenant' | 'requestedBy' | 'actor' | 'operatorSignal' | 'defaultApprovers' | 'createdAt'
  >;
  readonly review?: NonNullable<TurnStart['review']>;
}

/** A turn as it is stored and started; its text is in quarantine already. */
export async function newTurn(store: TenantStore, made: NewTurn): Promise<TurnSnapshot> {
  const { turnId, thread, profile, model, text, digest, by, review } = made;
  const point = 'before_input';
  const callId = inputIdOf(turnId);
  const pinned = pinForText(profile, point);
  const actor: { actor?: JsonValue } = by.actor === undefined ? {} : { actor: by.actor };
  const base = {
    ...by,
    callId,
    turnId,
    threadId: thread.id,
    profile: pinned,
    point,
    requestDigest: textRequestDigest({ point, text, ...actor }),
    ...(review !== undefined && { insideReview: true as const }),
  } as const;
  const subject = await keepQuarantined(
    store,
    { callId, profile: pinned, point, facts: callFacts(base, thread.metadata) },
    { kind: 'text', value: text },
    'text-asked',
  );
  const record: TurnRecord = {
    id: turnId,
    threadId: thread.id,
    status: 'running',
    profileId: profile.id,
    profileVersion: profile.version,
    requestDigest: digest,
    requestedBy: by.requestedBy,
    ...actor,
    createdAt: by.createdAt,
    updatedAt: by.createdAt,
  };
  const start: TurnStart = {
    tenant: by.tenant,
    turnId,
    threadId: thread.id,
    owner: by.requestedBy.owner,
    profile: { id: profile.id, version: profile.version },
    input: { ...base, subject },
    ...(review !== undefined && { review }),
    maxSteps: model.maxSteps,
    modelTimeoutMs: model.timeoutMs,
  };
  return { record, start, profile };
}
