import { subjectDigest } from '../../domain/digest';
import type { JsonValue } from '../../domain/json-value';
import type { Point } from '../../domain/point';
import { fitsInline, type Subject } from '../../domain/subject';
import type { TenantStore } from '../../store/tenant-store';

/**
 * A value on its way to a workflow: inline when it is small, else as a blob of the call, which vanishes by itself
 * unless a step takes it up. `blobName` is told the digest.
 */
export async function keptSubject(
  store: TenantStore,
  callId: string,
  what: { point: Point; tool: string; value: JsonValue },
  blobName: (digest: string) => string,
): Promise<Subject> {
  const digest = subjectDigest(what);
  if (fitsInline(what.value)) return { kind: 'inline', digest, value: what.value };
  const blob = blobName(digest);
  await store.blobs.write(callId, blob, what.value);
  return { kind: 'blob', digest, blob };
}
