import type { Cast } from '../cast';
import { expectAnswer, expectEqual, expectFound } from '../expectation';
import { callShape, eventShape, pageShape, resolutionShape, waitShape } from '../shapes';
import type { Story } from '../story';
import { callAt, callsOf, PAYMENT, PAYMENT_HOOK, PAYMENT_TOOL, resolveAt } from './payment';

export function denyPayment(story: Story, { agent, approver }: Cast, threadId: string): Promise<void> {
  return story.step('A second payment is denied; the agent is told by whom and why.', async () => {
    const request = { tool: PAYMENT_TOOL, input: { ...PAYMENT, amount: 90_000 } };
    const parked = expectAnswer(await agent.post(callsOf(threadId), request), 202, callShape);
    const wait = waitShape.parse(parked.pendingWaits[0]);
    const reason = 'not without an order number';
    const answer = await approver.post(resolveAt(wait), { decision: 'deny', reason });
    expectEqual('the decision', expectAnswer(answer, 200, resolutionShape).outcome.decision, 'deny');

    const call = expectAnswer(await agent.get(callAt(threadId, parked.id)), 200, callShape);
    expectEqual('the status', call.status, 'denied');
    const denial = expectFound('a denial', call.denial);
    expectEqual('the denial', denial, {
      ...{ by: 'human', hookId: PAYMENT_HOOK, executed: false },
      reason: { code: denial.reason.code, text: reason },
    });
    const by = await decidedBy(agent, threadId, parked.id);
    expectEqual('who decided', by, ['approver']);
    story.say(`200, status denied by a ${denial.by} (approver) at the hook ${PAYMENT_HOOK}:`);
    story.say(`“${reason}”; executed: ${denial.executed}`);
  });
}

/** The names are in the thread's events, which the agent may read. */
async function decidedBy(agent: Cast['agent'], threadId: string, callId: string): Promise<unknown> {
  const answer = await agent.get(`/v1/threads/${threadId}/events?limit=200`);
  const { items } = expectAnswer(answer, 200, pageShape(eventShape));
  const found = items.find(({ type, data }) => type === 'wait_resolved' && data['callId'] === callId);
  return expectFound('the event wait_resolved', found).data['by'];
}
