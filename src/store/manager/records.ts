/** A tenant as Manager knows it. */
export interface ManagedTenant {
  readonly id: string;
  /** Where its Nexus is reached, without a path. */
  readonly nexusUrl: string;
  /** The hook server's audience, verbatim; absent: the address under which it is called. */
  readonly hookAudience?: string;
  readonly state: 'active' | 'paused' | 'deleted';
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A workspace belongs to one tenant: its id is the key of this record. */
export interface WorkspaceRecord {
  readonly workspaceId: string;
  readonly tenantId: string;
  readonly role: string;
  readonly ticket?: string;
  /** The owner in Coder; an event of another one contradicts. */
  readonly ownerId?: string;
}

/** Where an earlier event of a chat belonged. */
export interface ChatRecord {
  readonly tenantId: string;
  readonly role: string;
  readonly ticket?: string;
  readonly workspaceId?: string;
  readonly ownerId: string;
}

export interface TenantHookKey {
  readonly generation: number;
  readonly secret: string;
}

/** An event as Manager dealt with it. */
export interface IngressEvent {
  readonly dispatchId?: string;
  readonly event?: string;
  readonly chatId?: string;
  readonly ownerId?: string;
  readonly workspaceId?: string;
  readonly tenant?: string;
  readonly outcome: 'answered' | 'refused' | 'unmanaged' | 'not_delivered' | 'alarm' | 'invalid_answer';
  /** What the sender was answered. */
  readonly status: number;
  readonly reason?: string;
  readonly latencyMs: number;
}
