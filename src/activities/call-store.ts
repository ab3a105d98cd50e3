import type { CallStart } from '../domain/call';
import type { CallState } from '../domain/call-state';
import type { Transition } from '../domain/transition';
import type { TenantStores } from '../store/tenant-stores';

export interface CommitStep {
  readonly tenant: string;
  readonly transition: Transition;
  /** With a step that may be the store's first of this call. */
  readonly start?: CallStart;
  readonly onlyIfThreadOpen: boolean;
}

export type CommitReply =
  | { readonly kind: 'applied' }
  | { readonly kind: 'taken'; readonly state: CallState }
  | { readonly kind: 'thread_closed' };

export interface CallStoreActivities {
  /** Stores one step of a call, once; safe to repeat. */
  commitStep(step: CommitStep): Promise<CommitReply>;
  /** Where the store thinks that the call stands; null when it does not know the call. */
  readState(call: { tenant: string; callId: string }): Promise<CallState | null>;
}

export function createCallStoreActivities({ stores }: { stores: TenantStores }): CallStoreActivities {
  return {
    async commitStep({ tenant, transition, start, onlyIfThreadOpen }) {
      const result = await stores
        .of(tenant)
        .calls.commit(transition, { onlyIfThreadOpen, ...(start !== undefined && { start }) });
      if (result.kind === 'changed' || result.kind === 'answered')
        throw new Error(`a commit without conditions cannot be refused as ${result.kind}`);
      return result;
    },
    async readState({ tenant, callId }) {
      const snapshot = await stores.of(tenant).calls.read(callId);
      return snapshot?.state ?? null;
    },
  };
}
