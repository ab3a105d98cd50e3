import { Client } from './client';
import type { DemoSystem } from './demo-system';

/** Who plays: three owners, each with a key of their own, and addresses to look things up at. */
export class Cast {
  private constructor(
    private readonly system: DemoSystem,
    readonly agent: Client,
    readonly approver: Client,
    readonly admin: Client,
  ) {}

  static of(system: DemoSystem): Cast {
    const { nexus, keys } = system;
    const as = (token: string): Client => new Client(nexus, token);
    return new Cast(system, as(keys.agent), as(keys.approver), as(keys.admin));
  }

  /** Somebody with another key. */
  holding(token: string): Client {
    return new Client(this.system.nexus, token);
  }

  /** Where the Temporal UI shows the workflow of a call. A key's token names its tenant. */
  workflowUrl(callId: string): string | undefined {
    const { temporalUi, temporalNamespace, keys } = this.system;
    const [, tenant] = keys.agent.split('_');
    if (temporalUi === undefined || tenant === undefined) return undefined;
    return `${temporalUi}/namespaces/${temporalNamespace}/workflows/tool-call:${tenant}:${callId}`;
  }
}
