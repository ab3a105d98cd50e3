import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { encodeAnswer, readAnswer, type EventAnswer } from '../../../coder/answer';
import { isDecidable, type CoderEvent } from '../../../coder/event';
import { chatOf, keyIdOf, readToken, secretBytes, type VerifiedToken } from '../../../coder/token';
import { MAX_EVENT_BYTES, readBody } from '../../../coder/verify-body';
import type { LifecycleEvent } from '../../../domain/audit';
import type { Scope } from '../../../domain/principal';
import type { TenantStore } from '../../../store/tenant-store';
import type { TenantStores } from '../../../store/tenant-stores';
import { eventHandler, sendSigned, unauthenticatedEvent } from '../../coder-answer';
import type { Mount } from '../../http/app';
import { readBytes } from '../../http/body-bytes';
import { exchangeOf } from '../../http/exchange';
import { HttpProblem } from '../../http/problem';
import type { CallMaking } from '../calls/make-call';
import { PendingClaims } from '../calls/pending-claims';
import type { NexusPrincipal } from '../nexus-principal';
import { answering } from '../outage';
import { coderPrincipal, relayClaims, type Dispatch, type RelayClaims } from './dispatch-context';
import { judgeEvent } from './judge-event';
import { refused, type Verdict } from './verdict';

export interface HookServerOptions {
  readonly stores: TenantStores;
  readonly making: CallMaking;
  /** The URL under which Manager reaches the hook server, verbatim; nothing of a request says what it is. */
  readonly audience: string;
  /** Where people reach Nexus. */
  readonly publicUrl?: string;
}

const KEY_ID = /^([a-z0-9-]{1,40})\.(\d{1,9})$/;

/**
 * `POST /experimental/hooks/chat`: Coder's lifecycle events as Manager relays them, signed with the tenant's hook key.
 *
 *   H1  Nothing of the body is read before the token is accepted, nothing of it is parsed before its hash is.
 *   H2  Of a dispatch one answer stands: a repetition is answered with the same bytes, signed anew.
 *   H3  The answer is stored with its event before it is told, and told within the signed deadline.
 */
export function createHookServer(options: HookServerOptions): Mount<NexusPrincipal, Scope> {
  const claims = new PendingClaims(options.making.gateway);
  const events = {
    making: { ...options.making, claims },
    ...(options.publicUrl !== undefined && { publicUrl: options.publicUrl }),
  };
  /** Dispatches that are being answered, by tenant and id. */
  const running = new Map<string, Promise<Buffer>>();

  const serve = async (request: Request, response: Response): Promise<void> => {
    const began = performance.now();
    const { token, store } = await readTenantToken(options.stores, request.headers.authorization);
    exchangeOf(request).annotations = { tenant: store.tenant };
    const relayed = await readRelayed(request, token, options.audience).catch(async (error: unknown) => {
      if (error instanceof HttpProblem) {
        const audit = auditOfRefused(token, error, performance.now() - began);
        await store.dispatches.note(audit, new Date().toISOString());
      }
      throw error;
    });
    const { relay, bytes, event, text } = relayed;
    const key = `${store.tenant} ${event.meta.dispatchId}`;
    const answered =
      running.get(key) ??
      answerOnce({ store, relay, text, bytes, event, began }).finally(() => running.delete(key));
    running.set(key, answered);
    await sendSigned(response, token, fitting(token, await answered));
  };

  const answerOnce = async (of: {
    store: TenantStore;
    relay: RelayClaims;
    text: string;
    bytes: Buffer;
    event: CoderEvent;
    began: number;
  }): Promise<Buffer> => {
    const { store, relay, text, bytes, event, began } = of;
    const known = await store.dispatches.read(event.meta.dispatchId);
    if (known !== undefined) return Buffer.from(known);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const dispatch: Dispatch = { store, principal: coderPrincipal(store, event.meta), relay, digest, text };
    const verdict = await judgeEvent(events, dispatch, event);
    const encoded = encodeAnswer(event.type, answerFor(event, verdict));
    const audit = auditOf(dispatch, event, verdict, performance.now() - began);
    return Buffer.from(await store.dispatches.keep(encoded.toString(), audit, new Date().toISOString()));
  };

  return {
    path: '/experimental/hooks/chat',
    handler: () => eventHandler((request, response) => answering(() => serve(request, response))),
  };
}

/** The tenant, and which of its keys, is what the key id says; only the signature proves it. */
async function readTenantToken(
  stores: TenantStores,
  authorization: string | undefined,
): Promise<{ token: VerifiedToken; store: TenantStore }> {
  const [, tenant = '', generation = ''] = KEY_ID.exec(keyIdOf(authorization) ?? '') ?? [];
  const store = stores.find(tenant);
  const key = await store?.hookKeys.accepted(Number(generation));
  if (store === undefined || key === undefined)
    throw unauthenticatedEvent('the key is not one of this server');
  const reading = await readToken(authorization, {
    secrets: [secretBytes(key.secret)],
    now: Date.now() / 1_000,
  });
  if (!reading.ok) throw unauthenticatedEvent(reading.problem);
  return { token: reading.token, store };
}

/** @throws HttpProblem for what is not as Manager sends it */
async function readRelayed(request: Request, token: VerifiedToken, audience: string) {
  const relay = relayClaims(token);
  if (relay === undefined) throw unauthenticatedEvent('the claims that Manager adds are missing');
  const bytes = await readBytes(request, MAX_EVENT_BYTES);
  const reading = readBody(bytes, token.claims, { audience });
  if (!reading.ok) throw new HttpProblem('malformed-request', { detail: reading.problem });
  return { relay, bytes, event: reading.event, text: reading.text };
}

/** Of a refused event only what its verified token says is noted. */
function auditOfRefused(token: VerifiedToken, problem: HttpProblem, latencyMs: number): LifecycleEvent {
  const { claims } = token;
  const relay = relayClaims(token);
  return {
    dispatchId: claims.jti.toLowerCase(),
    event: claims.type,
    chatId: chatOf(claims),
    ...(relay !== undefined && { role: relay.role }),
    ...(relay?.ticket !== undefined && { ticket: relay.ticket }),
    decision: 'refused',
    reason: { code: problem.code, text: problem.message },
    latencyMs: Math.round(latencyMs),
  };
}

/** A denial of an event that cannot be denied would be fatal to the sender; its reason is for the audit only. */
function answerFor({ type }: CoderEvent, { answer }: Verdict): EventAnswer {
  if (isDecidable(type)) return answer;
  const { permission: _, ...rest } = answer;
  return rest;
}

function auditOf(
  { relay, digest }: Dispatch,
  { type, meta }: CoderEvent,
  { audit }: Verdict,
  latencyMs: number,
): LifecycleEvent {
  return {
    dispatchId: meta.dispatchId,
    event: type,
    chatId: meta.chatId,
    ownerId: meta.ownerId,
    ...(meta.workspaceId !== undefined && { workspaceId: meta.workspaceId }),
    role: relay.role,
    ...(relay.ticket !== undefined && { ticket: relay.ticket }),
    ...audit,
    latencyMs: Math.round(latencyMs),
    digest,
  };
}

/** Stored bytes are another event's answer when the sender has used a dispatch id twice; they may not fit this one. */
function fitting(token: VerifiedToken, bytes: Buffer): Buffer {
  const { type } = token.claims;
  return readAnswer(type, bytes).ok ? bytes : encodeAnswer(type, answerToReusedId(token));
}

function answerToReusedId({ claims }: VerifiedToken): EventAnswer {
  const { answer } = refused('dispatch_reused', 'This dispatch_id was used for another event.');
  return isDecidable(claims.type) ? answer : {};
}
