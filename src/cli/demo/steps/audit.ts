import { auditTable } from '../audit-table';
import type { Cast } from '../cast';
import { expectEqual, UnexpectedResult } from '../expectation';
import { eventShape, type AuditEvent } from '../shapes';
import type { Story } from '../story';

const PARKED = ['tool_call_started', 'wait_opened', 'wait_resolved', 'hook_decision'];

/** What the demo must have left in the audit, in order. */
const EXPECTED = [
  'thread_created',
  'tool_call_started',
  ...PARKED,
  ...['tool_finished', 'tool_call_finished'],
  ...[...PARKED, 'tool_call_finished'],
  'tool_call_started',
];
const EXPECTED_OF_CLOSED = [
  ...['thread_created', 'tool_call_started', 'wait_opened', 'thread_closed'],
  ...['wait_resolved', 'hook_decision', 'tool_call_finished'],
];

export function printAudit(
  story: Story,
  { approver }: Cast,
  { threadId, closedThreadId }: { threadId: string; closedThreadId: string },
): Promise<void> {
  return story.step('The audit has all of it, in order, with digests in place of values.', async () => {
    const events = await audit(approver, threadId);
    const ofClosed = await audit(approver, closedThreadId);
    story.say(auditTable(events));
    story.say(`\nand of the thread that was closed:\n\n${auditTable(ofClosed)}`);
    expectEqual('the events', typesOf(events), EXPECTED);
    expectEqual('the events of the closed thread', typesOf(ofClosed), EXPECTED_OF_CLOSED);
  });
}

async function audit(reader: Cast['approver'], threadId: string): Promise<AuditEvent[]> {
  const answer = await reader.get(`/v1/audit?threadId=${encodeURIComponent(threadId)}`);
  if (answer.status !== 200) throw new UnexpectedResult('the audit', `${answer.status} ${answer.text}`);
  const lines = answer.text.split('\n').filter((line) => line !== '');
  return lines.map((line) => eventShape.parse(JSON.parse(line)));
}

function typesOf(events: readonly AuditEvent[]): string[] {
  return events.map(({ type }) => type);
}
