import { callWorkflowId, type CallStatus } from '../../src/domain/call';
import type { Scene } from './scene';
import { eventually } from './told';

interface Event {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Expected {
  readonly status: CallStatus;
  /** Types of the events of the thread after `thread_created`: each once, in this order. */
  readonly events: readonly string[];
  /** Of the call. */
  readonly denial?: object;
}

export const PARKED = ['tool_call_started', 'wait_opened'] as const;
export const RESOLVED = ['wait_resolved', 'hook_decision'] as const;
export const FINISHED = ['tool_finished', 'tool_call_finished'] as const;

const OPEN: readonly CallStatus[] = ['waiting', 'allowed', 'running'];

/**
 * Everybody is told one thing about a call that no longer waits: the call at its address, the events of its thread, the
 * audit of the tenant, every list of waits, and its workflow. Gives the events.
 */
export async function expectOneOutcome(scene: Scene, location: string, expected: Expected): Promise<Event[]> {
  const { agent, ann, threadId } = scene;
  const call = await agent.get(location);
  expect(call).toMatchObject({ status: 200, body: { status: expected.status, pendingWaits: [] } });
  if (expected.denial !== undefined) expect(call.body.denial).toMatchObject(expected.denial);

  const { items } = (await ann.get(`/v1/threads/${threadId}/events?limit=100`)).body as { items: Event[] };
  expect(items.map(({ type }) => type)).toEqual(['thread_created', ...expected.events]);
  expect(items.map(({ seq }) => seq)).toEqual(items.map((_, index) => index + 1));
  expect(await auditOf(scene)).toEqual(items.map(({ id }) => id));
  expectDecisionsAsResolved(items);

  expect((await ann.get('/v1/threads?state=waiting')).body).toMatchObject({ items: [] });
  expect((await ann.get('/v1/waits')).body).toMatchObject({ items: [] });
  expect((await ann.get(`/v1/threads/${threadId}`)).body).toMatchObject({ pendingWaits: [] });
  if (!OPEN.includes(expected.status)) await expectEnded(scene, call.body.id as string);
  return items;
}

/** The audit equals the decision: each wait's outcome is what its hook is said to have decided, and by whom. */
function expectDecisionsAsResolved(events: readonly Event[]): void {
  const resolved = events.filter(({ type }) => type === 'wait_resolved').map(({ data }) => data);
  const decided = events.filter(({ type }) => type === 'hook_decision').map(({ data }) => data);
  expect(decided).toHaveLength(resolved.length);
  for (const [index, { outcome, decision = 'deny', hookId }] of resolved.entries()) {
    expect(decided[index]).toMatchObject({ outcome, decision, hookId });
  }
}

async function auditOf({ ann, threadId }: Scene): Promise<string[]> {
  const response = await fetch(`${ann.url}/v1/audit?threadId=${threadId}`, {
    headers: { authorization: `Bearer ${ann.token}` },
  });
  const lines = (await response.text()).trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as Event).id);
}

/** No workflow is left running behind a call that has ended. */
async function expectEnded({ client, tenant }: Scene, callId: string): Promise<void> {
  const workflow = client.workflow.getHandle(callWorkflowId(tenant, callId));
  await eventually(async () => {
    expect((await workflow.describe()).status.name).not.toBe('RUNNING');
  });
}
