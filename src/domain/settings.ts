/** What an administrator of a tenant decides for all of it. */
export interface TenantSettings {
  /** Whether a newer set of default hooks reaches the profiles that follow it when the service starts. */
  readonly defaultHooks: 'auto' | 'manual';
  /** Whether a signal from the Temporal UI or command line may resolve waits. A call keeps what held at its start. */
  readonly operatorSignal: boolean;
}

export const DEFAULT_SETTINGS: TenantSettings = { defaultHooks: 'auto', operatorSignal: true };
