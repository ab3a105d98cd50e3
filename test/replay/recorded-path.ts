import type { Stack } from '../support/stack';

/**
 * The paths of the workflows of which a history is kept. Each is played on real servers and gives the id of the call
 * whose history is the record, or `turn:` and the id of a turn; a parked one is left open.
 */
export interface RecordedPath {
  readonly name: string;
  readonly skipTime?: true;
  play(stack: Stack): Promise<string>;
}

export const parkedWaitOf = (call: { body: { pendingWaits: { id: string }[] } }): string =>
  call.body.pendingWaits[0]!.id;
