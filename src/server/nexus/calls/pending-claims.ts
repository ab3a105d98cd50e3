import { isOpen } from '../../../domain/call';
import { claimDecision, type PendingInput, type PendingReply } from '../../../domain/call-pending';
import type { CallState } from '../../../domain/call-state';
import { KeyedTurns } from '../../keyed-turns';
import type { Reached, CallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';

/** Much longer than a claim takes when Temporal and a worker are there. */
const PATIENCE_MS = 1_000;

/**
 * Takes identical requests to the call that was answered `pending`. A workflow takes ten updates at a time, so requests
 * for one call take turns, and what the store can tell already is told from the store, by the rules of the workflow.
 * Only the workflow hands a decision out.
 */
export class PendingClaims {
  private readonly turns = new KeyedTurns(PATIENCE_MS);

  constructor(private readonly gateway: CallGateway) {}

  claim(
    { store, tenant }: NexusPrincipal,
    { call }: CallState,
    input: PendingInput,
  ): Promise<Reached<PendingReply>> {
    return this.turns.run(`${tenant}:${call.id}`, async () => {
      const known = await store.calls.read(call.id);
      if (known !== undefined && isOpen(known.state.call.status)) {
        const told = claimDecision(known.start, known.state, { input, now: Date.parse(call.createdAt) });
        if (told.kind === 'reply') return told;
      }
      return this.gateway.claim(tenant, call.id, input);
    });
  }
}
