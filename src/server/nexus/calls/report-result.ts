import { subjectDigest } from '../../../domain/digest';
import type { JsonValue } from '../../../domain/json-value';
import type { CallStatus } from '../../../domain/call';
import type { ToolCallState } from '../../../domain/call-state';
import { keepResult } from '../../../store/keep-result';
import { HttpProblem } from '../../http/problem';
import type { CallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { findCall } from './call-access';
import { callLocation } from './call-location';
import { notDecidedProblem } from './not-decided';
import { reachCall } from './reach-call';

export interface ReportedResult {
  readonly kind: 'output' | 'error';
  readonly value: JsonValue;
}

/**
 * Takes what came of a tool that the caller ran. The same result again gets the call as it is; a result for a call
 * that has ended otherwise is kept as evidence, by its digest, and refused.
 */
export async function reportCallResult(
  gateway: CallGateway,
  report: { principal: NexusPrincipal; threadId: string; callId: string; result: ReportedResult },
): Promise<ToolCallState> {
  const { principal, threadId, callId, result } = report;
  const { store, tenant } = principal;
  const found = await findCall(principal, gateway, { threadId, callId });
  if (found.kind === 'unstored') throw notDecided(threadId, callId);
  const { call } = found.state;
  if (call.execution === 'server') throw runsHere(threadId, callId);
  const digest = subjectDigest({ point: 'after_tool_call', tool: call.tool, value: result.value });
  if (isReported(found.state, result.kind, digest)) return found.state;

  const known = await store.calls.readToolCall(callId);
  if (known === undefined) throw new HttpProblem('not-found', { detail: 'the call is not known any more' });
  const blob = await keepResult(store, { start: known.start, call: known.state.call }, result);
  const reached = await reachCall(gateway, { store, callId }, () =>
    gateway.report(tenant, callId, { result: result.kind, blob }),
  );
  // Only the workflow says whether this blob became the call's; one that did not, vanishes by itself.
  const now = (await store.calls.readToolCall(callId))?.state ?? found.state;
  if (reached.kind === 'undecided' || reached.kind === 'unavailable') {
    throw notDecidedProblem(reached, { threadId, callId }, principal);
  }
  if (reached.kind === 'reply' && reached.reply.ok) return now;
  // Refused, and kept all the same: a worker stored this very report and died before it could say so.
  if (!blobNamesOf(now).includes(blob.blob)) await store.blobs.discard(callId, blob.blob);
  if (isReported(now, result.kind, digest)) return now;
  if (reached.kind === 'reply' && !reached.reply.ok) {
    if (reached.reply.code === 'not_decided') throw notDecided(threadId, callId);
    if (reached.reply.code === 'being_judged') throw beingJudged(threadId, callId);
  }
  await store.calls.appendEvidence(
    now.call,
    { callId, result: result.kind, digest, late: true },
    new Date().toISOString(),
  );
  throw callEnded(threadId, callId, now.call.status);
}

/** Whether this very result was reported before, whatever the hooks made of it. */
function isReported(
  { call, reported }: ToolCallState,
  kind: ReportedResult['kind'],
  digest: string,
): boolean {
  const recorded = kind === 'output' ? call.output : call.error;
  if (call.reportedDigest === undefined) return recorded?.digest === digest;
  return call.reportedDigest === digest && (reported?.result ?? kind) === kind;
}

function blobNamesOf({ call, reported }: ToolCallState): (string | undefined)[] {
  return [call.output?.blob, call.error?.blob, reported?.blob.blob];
}

function runsHere(threadId: string, callId: string): HttpProblem {
  return new HttpProblem('runs-here', {
    detail: 'the service runs the tool of this call and takes no result from outside',
    extensions: { callId },
    headers: { Location: callLocation(threadId, callId) },
  });
}

function beingJudged(threadId: string, callId: string): HttpProblem {
  return new HttpProblem('result-reported', {
    detail: 'another result of this call was reported before and is being judged',
    extensions: { callId },
    headers: { Location: callLocation(threadId, callId) },
  });
}

function notDecided(threadId: string, callId: string): HttpProblem {
  return new HttpProblem('call-not-decided', {
    detail: 'the call still waits for its decision; no output is taken',
    extensions: { callId },
    headers: { Location: callLocation(threadId, callId) },
  });
}

export function callEnded(threadId: string, callId: string, status: CallStatus): HttpProblem {
  return new HttpProblem('call-ended', {
    detail: `the call is ${status}`,
    extensions: { callId, callStatus: status },
    headers: { Location: callLocation(threadId, callId) },
  });
}
