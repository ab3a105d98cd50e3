import type { EventMeta } from '../../../coder/event';
import type { VerifiedToken } from '../../../coder/token';
import { uuidOf } from '../../../domain/turn';
import type { TenantStore } from '../../../store/tenant-store';
import type { NexusPrincipal } from '../nexus-principal';

/** What Manager has signed about a dispatch beside the sender's own claims. */
export interface RelayClaims {
  /** Absent: the chat has no workspace, and Manager knew it by its chats. */
  readonly workspace?: string;
  readonly role: string;
  readonly ticket?: string;
  /** When Manager must have the answer, in milliseconds since the epoch. */
  readonly deadline: number;
}

/** Of the time until the deadline this is for the answer's way back, in milliseconds. */
const WAY_BACK_MS = 150;

/** How long an answer may be waited for, in milliseconds. */
export function timeLeft({ deadline }: RelayClaims): number {
  return Math.max(0, deadline - Date.now() - WAY_BACK_MS);
}

const ROLE = /^[a-z0-9-]{1,40}$/;
const TICKET = /^[A-Za-z0-9_-]{1,64}$/;

/** Nothing when one of the claims is missing or not what Manager writes. */
export function relayClaims({ all }: VerifiedToken): RelayClaims | undefined {
  const { workspace, role, ticket, deadline } = all;
  if (typeof role !== 'string' || !ROLE.test(role)) return undefined;
  if (typeof deadline !== 'number' || !Number.isSafeInteger(deadline)) return undefined;
  if (workspace !== undefined && typeof workspace !== 'string') return undefined;
  if (ticket !== undefined && (typeof ticket !== 'string' || !TICKET.test(ticket))) return undefined;
  return {
    role,
    deadline,
    ...(workspace !== undefined && { workspace }),
    ...(ticket !== undefined && { ticket }),
  };
}

/** The thread of a chat: the same for every dispatch, on every server. */
export function threadOfChat(tenant: string, chatId: string): string {
  return uuidOf(JSON.stringify(['coder-chat', tenant, chatId]));
}

/**
 * Who asks in a chat. No owner's name holds a colon, so no key passes for one, and no key's owner can be kept from
 * resolving by having the same name.
 */
export function coderPrincipal(store: TenantStore, { ownerId }: Pick<EventMeta, 'ownerId'>): NexusPrincipal {
  const owner = `coder:${ownerId}`;
  return {
    tenant: store.tenant,
    store,
    key: {
      id: 'coder',
      tenant: store.tenant,
      owner,
      scopes: ['calls', 'read'],
      createdAt: new Date(0).toISOString(),
    },
  };
}

export interface Dispatch {
  readonly store: TenantStore;
  readonly principal: NexusPrincipal;
  readonly relay: RelayClaims;
  /** Of the body. */
  readonly digest: string;
  /** The body as it was sent. */
  readonly text: string;
}
