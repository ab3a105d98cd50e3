import type { Request, Response } from 'express';
import { encodeAnswer } from '../../coder/answer';
import type { CoderEvent } from '../../coder/event';
import { readToken } from '../../coder/token';
import { MAX_EVENT_BYTES, readBody } from '../../coder/verify-body';
import type { ManagerStore } from '../../store/manager/manager-store';
import type { IngressEvent } from '../../store/manager/records';
import { eventHandler, sendSigned, unauthenticatedEvent } from '../coder-answer';
import type { Mount } from '../http/app';
import { readBytes } from '../http/body-bytes';
import { HttpProblem } from '../http/problem';
import type { ManagerPrincipal, ManagerScope } from './manager-route';
import { relay } from './relay';
import { resolveTenant } from './resolve-tenant';

export interface IngressOptions {
  readonly store: ManagerStore;
  /** The URL that Coder is given, verbatim. */
  readonly audience: string;
  /** Newest first. */
  readonly secrets: readonly Uint8Array[];
  /** Of the deployment; absent: any that has the secret. */
  readonly issuer?: string;
  /** How Manager calls itself to Nexus. */
  readonly name: string;
  /** For everything, in milliseconds. */
  readonly budgetMs: number;
}

export const INGRESS_PATH = '/api/v1/hooks/coder/chat';

const PROBLEMS = { 404: 'not-found', 409: 'conflict', 410: 'gone' } as const;

/**
 * `POST /api/v1/hooks/coder/chat`: verifies what Coder has signed, finds the one tenant that it concerns, asks that one's
 * Nexus with the same bytes, and answers within the budget. Refusals are audited and never relayed.
 */
export function createIngress(options: IngressOptions): Mount<ManagerPrincipal, ManagerScope> {
  const { store, audience, secrets, issuer, name, budgetMs } = options;

  const serve = async (request: Request, response: Response): Promise<void> => {
    const began = Date.now();
    const note = (event: CoderEvent | undefined, noted: Omit<IngressEvent, 'latencyMs'>): Promise<void> =>
      store.note({ ...factsOf(event), ...noted, latencyMs: Date.now() - began });
    const reading = await readToken(request.headers.authorization, { secrets, issuer, now: began / 1_000 });
    if (!reading.ok) {
      await note(undefined, { outcome: 'refused', status: 401, reason: reading.problem });
      throw unauthenticatedEvent(reading.problem);
    }
    const { token } = reading;
    const bytes = await readBytes(request, MAX_EVENT_BYTES).catch(async (error: unknown) => {
      if (error instanceof HttpProblem) await note(undefined, { outcome: 'refused', status: error.status });
      throw error;
    });
    const body = readBody(bytes, token.claims, { audience });
    if (!body.ok) {
      await note(undefined, { outcome: 'refused', status: 400, reason: body.problem });
      throw new HttpProblem('malformed-request', { detail: body.problem });
    }
    const { event } = body;
    const resolved = await resolveTenant(store, event);
    if (resolved.kind === 'refused') {
      const { status, problem } = resolved;
      await note(event, { outcome: 'refused', status, reason: problem });
      throw new HttpProblem(PROBLEMS[status], { detail: problem });
    }
    if (resolved.kind === 'unmanaged') {
      await note(event, { outcome: 'unmanaged', status: 200 });
      await sendSigned(response, token, encodeAnswer(event.type, {}));
      return;
    }
    const { tenant, chat } = resolved;
    const [key] = await Promise.all([
      store.currentHookKey(tenant.id),
      store.rememberChat(event.meta.chatId, chat),
    ]);
    if (key === undefined) {
      await note(event, {
        tenant: tenant.id,
        outcome: 'refused',
        status: 503,
        reason: 'the tenant has no hook key',
      });
      throw new HttpProblem('unavailable', {
        detail: 'the tenant has no hook key; make one with POST …/hook-keys',
      });
    }
    const deadline = began + budgetMs;
    const relayed = await relay(event, { bytes, token, tenant, chat, key, issuer: name, deadline });
    const { outcome, reason } = relayed;
    await note(event, { tenant: tenant.id, outcome, status: 200, ...(reason !== undefined && { reason }) });
    await sendSigned(response, token, relayed.bytes ?? encodeAnswer(event.type, relayed.answer));
  };

  return { path: INGRESS_PATH, handler: () => eventHandler(serve) };
}

function factsOf(event: CoderEvent | undefined): Partial<IngressEvent> {
  if (event === undefined) return {};
  const { dispatchId, chatId, ownerId, workspaceId } = event.meta;
  return {
    dispatchId,
    event: event.type,
    chatId,
    ownerId,
    ...(workspaceId !== undefined && { workspaceId }),
  };
}
