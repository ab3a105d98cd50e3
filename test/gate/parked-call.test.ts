import { startStack, type Stack } from '../support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

test('a parked call is approved over HTTP with an edit, goes on with the approved input, and leaves its audit trail', async () => {
  const admin = await stack.as('root', ['admin']);
  const agent = await stack.as('agent', ['calls']);
  const approver = await stack.as('ann', ['waits:resolve', 'read']);
  const profile = await admin.post('/v1/profiles', { name: 'p' });
  expect(profile.status).toBe(201);
  const thread = await agent.post('/v1/threads', { profileId: profile.body.id });
  expect(thread.status).toBe(201);
  const calls = `/v1/threads/${thread.body.id}/tool-calls`;

  const parked = await agent.post(calls, { tool: 'payments.transfer', input: { amount: 100 } });
  expect(parked).toMatchObject({ status: 202, body: { status: 'waiting' } });
  expect(parked.body).not.toHaveProperty('input');

  const waiting = await approver.get('/v1/threads?state=waiting');
  const [wait] = waiting.body.items[0].pendingWaits;
  expect(wait).toMatchObject({ hookId: 'default:payments', value: { amount: 100 } });
  const resolved = await approver.post(`/v1/threads/${thread.body.id}/waits/${wait.id}/resolve`, {
    decision: 'allow',
    updatedInput: { amount: 50 },
    reason: 'half is enough',
  });
  expect(resolved).toMatchObject({
    status: 200,
    body: { status: 'resolved', outcome: { decision: 'allow', by: ['ann'] } },
  });

  const allowed = await agent.get(`${calls}/${parked.body.id}`);
  expect(allowed).toMatchObject({
    status: 200,
    body: { status: 'allowed', input: { amount: 50 }, pendingWaits: [] },
  });
  const done = await agent.post(`${calls}/${parked.body.id}/output`, { output: { ok: true } });
  expect(done).toMatchObject({ status: 200, body: { status: 'completed', output: { ok: true } } });

  const events = await agent.get(`/v1/threads/${thread.body.id}/events`);
  expect(events.body.items.map((event: { type: string }) => event.type)).toEqual([
    'thread_created',
    'tool_call_started',
    'wait_opened',
    'wait_resolved',
    'hook_decision',
    'tool_finished',
    'tool_call_finished',
  ]);
});
