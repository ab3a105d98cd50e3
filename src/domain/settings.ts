import type { RedactionSettings } from './redaction-schema';

/** What an administrator of a tenant decides for all of it. */
export interface TenantSettings {
  /** Whether a newer set of default hooks reaches the profiles that follow it when the service starts. */
  readonly defaultHooks: 'auto' | 'manual';
  /** Whether a signal from the Temporal UI or command line may resolve waits. A call keeps what held at its start. */
  readonly operatorSignal: boolean;
  /** Who may answer where a hook names nobody; absent: every key with scope waits:resolve. Kept from a call's start. */
  readonly defaultApprovers?: readonly string[] | undefined;
  /** What events show of the values that were judged: nothing, all but what `redaction` hides, or all but secrets. */
  readonly auditValues: AuditValues;
  readonly redaction: RedactionSettings;
  /** The profile of chats by the role of their workspace. */
  readonly roleProfiles: Readonly<Record<string, string>>;
  /** How much of the tenant's audit is kept; of what is absent, all. The events of a thread stay with the thread. */
  readonly retention: { readonly auditDays?: number | undefined; readonly auditEvents?: number | undefined };
}

export type AuditValues = 'none' | 'redacted' | 'full';

export const DEFAULT_SETTINGS: TenantSettings = {
  defaultHooks: 'auto',
  operatorSignal: true,
  auditValues: 'redacted',
  redaction: { fields: [], patterns: [] },
  roleProfiles: {},
  retention: {},
};
