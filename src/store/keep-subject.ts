import { factsWith, type CallFacts, type JudgedValue } from '../domain/call-facts';
import { subjectDigest } from '../domain/digest';
import { matchRules } from '../domain/match-rules';
import { isQuarantined, type Point } from '../domain/point';
import type { PinnedProfile } from '../domain/profile';
import { fitsInline, type BlobSubject, type Subject } from '../domain/subject';
import type { TenantStore } from './tenant-store';

export interface SubjectOrigin {
  readonly callId: string;
  readonly profile: PinnedProfile;
  readonly point: Point;
  readonly facts: CallFacts;
}

/**
 * A value on its way to a workflow, with what the profile's conditions make of it: inline when it is small and may be
 * seen in Temporal's history, else as a blob of the call, which vanishes by itself unless a step takes it up.
 * `blobName` is told the digest.
 */
export async function keepSubject(
  store: TenantStore,
  origin: SubjectOrigin,
  judged: JudgedValue,
  blobName: (digest: string) => string,
): Promise<Subject> {
  const { callId, profile, point, facts } = origin;
  const { value } = judged;
  const { tool } = facts;
  const matching = matchRules(profile, point, factsWith(facts, judged));
  const judgedBy = {
    digest: subjectDigest({ point, ...(tool !== undefined && { tool }), value }),
    ...(matching !== undefined && { matching }),
  };
  if (!isQuarantined(point) && fitsInline(value)) return { kind: 'inline', ...judgedBy, value };
  const blob = blobName(judgedBy.digest);
  await store.blobs.write(callId, blob, value);
  return { kind: 'blob', ...judgedBy, blob };
}

/** The same for what nobody may see before it is judged, which is always kept as a blob. */
export async function keepQuarantined(
  store: TenantStore,
  origin: SubjectOrigin,
  judged: JudgedValue,
  blobName: string,
): Promise<BlobSubject> {
  const subject = await keepSubject(store, origin, judged, () => blobName);
  if (subject.kind !== 'blob') throw new Error('what is judged at this point is kept as a blob');
  return subject;
}
