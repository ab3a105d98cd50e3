import type { CoderEvent } from '../../coder/event';
import type { ManagerStore } from '../../store/manager/manager-store';
import type { ChatRecord, ManagedTenant } from '../../store/manager/records';

/** Whose an event is, from Manager's own records only. */
export type Resolution =
  | { readonly kind: 'tenant'; readonly tenant: ManagedTenant; readonly chat: ChatRecord }
  | { readonly kind: 'unmanaged' }
  | { readonly kind: 'refused'; readonly status: 404 | 409 | 410; readonly problem: string };

/**
 * The workspace says it, when there is one; else what earlier events of the chat, its root or its parent said. A
 * subagent's chat has the role of its root.
 */
export async function resolveTenant(store: ManagerStore, { meta }: CoderEvent): Promise<Resolution> {
  const found = await ownerOf(store, meta);
  if (found === 'contradiction') return refused(409, 'the chats of this event belong to several tenants');
  if (found === undefined) {
    return (await store.isUnmanagedOwner(meta.ownerId))
      ? { kind: 'unmanaged' }
      : refused(404, 'no tenant has this workspace or chat');
  }
  if (found.knownOwner !== undefined && found.knownOwner !== meta.ownerId) {
    return refused(409, 'the owner of the event is not that of its workspace or chat');
  }
  const tenant = await store.readTenant(found.chat.tenantId);
  if (tenant === undefined) return refused(404, 'the tenant of this workspace is not known');
  if (tenant.state !== 'active') return refused(410, `the tenant is ${tenant.state}`);
  return { kind: 'tenant', tenant, chat: found.chat };
}

interface Found {
  readonly chat: ChatRecord;
  readonly knownOwner: string | undefined;
}

async function ownerOf(
  store: ManagerStore,
  meta: CoderEvent['meta'],
): Promise<Found | 'contradiction' | undefined> {
  const root = await chatOf(store, meta.rootChatId ?? meta.parentChatId);
  if (meta.workspaceId !== undefined) {
    const workspace = await store.readWorkspace(meta.workspaceId);
    if (workspace === undefined) return undefined;
    if (root !== undefined && root.tenantId !== workspace.tenantId) return 'contradiction';
    const { tenantId, workspaceId } = workspace;
    const { role, ticket } = root ?? workspace;
    const chat = {
      tenantId,
      role,
      ...(ticket !== undefined && { ticket }),
      workspaceId,
      ownerId: meta.ownerId,
    };
    return { chat, knownOwner: workspace.ownerId };
  }
  const known = await Promise.all(
    [meta.chatId, meta.rootChatId, meta.parentChatId].map((id) => chatOf(store, id)),
  );
  const chats = known.filter((chat) => chat !== undefined);
  const [first] = chats;
  if (first === undefined) return undefined;
  if (chats.some(({ tenantId }) => tenantId !== first.tenantId)) return 'contradiction';
  const { role, ticket } = root ?? first;
  return {
    chat: { ...first, role, ...(ticket !== undefined && { ticket }), ownerId: meta.ownerId },
    knownOwner: first.ownerId,
  };
}

async function chatOf(store: ManagerStore, id: string | undefined): Promise<ChatRecord | undefined> {
  return id === undefined ? undefined : store.readChat(id);
}

function refused(status: 404 | 409 | 410, problem: string): Resolution {
  return { kind: 'refused', status, problem };
}
