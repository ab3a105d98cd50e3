import type { Wait } from '../../src/domain/wait';
import { AGENT, subjectOf } from './fixtures';

/** An open wait for the value 0, due at 1,000. */
export const openWait = (change: Partial<Wait> = {}): Wait => ({
  id: 'w',
  hookId: 'h',
  index: 0,
  point: 'before_tool_call',
  kind: 'client',
  title: 'Allow t?',
  subject: subjectOf(0),
  openedAt: 0,
  expiresAt: 1_000,
  needed: 1,
  allowSelfApproval: false,
  requestedBy: AGENT,
  edited: false,
  rewrote: false,
  votes: [],
  ...change,
});
