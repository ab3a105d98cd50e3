import type { Cast } from '../cast';
import { expectAnswer, expectEqual } from '../expectation';
import { callShape, createdShape, problemShape, threadShape, waitShape } from '../shapes';
import type { Story } from '../story';
import { callAt, callsOf, PAYMENT, PAYMENT_TOOL, resolveAt } from './payment';

/** Gives the id of the thread that was closed. */
export function closeThread(story: Story, { agent, approver }: Cast, profileId: string): Promise<string> {
  return story.step('Closing a thread clears what waits in it.', async () => {
    const thread = expectAnswer(await agent.post('/v1/threads', { profileId }), 201, createdShape);
    const request = { tool: PAYMENT_TOOL, input: PAYMENT };
    const parked = expectAnswer(await agent.post(callsOf(thread.id), request), 202, callShape);
    const wait = waitShape.parse(parked.pendingWaits[0]);

    const closed = expectAnswer(await agent.delete(`/v1/threads/${thread.id}`), 200, threadShape);
    expectEqual('the state of the thread', closed.state, 'closed');
    expectEqual('its waits', closed.pendingWaits, []);
    const call = expectAnswer(await agent.get(callAt(thread.id, parked.id)), 200, callShape);
    expectEqual('the status of its call', call.status, 'cancelled');
    story.say('200, state closed; its call is cancelled and nothing waits');

    const late = await approver.post(resolveAt(wait), { decision: 'allow' });
    const problem = expectAnswer(late, 410, problemShape);
    story.say(`An approval that comes now: 410 ${problem.title}`);
    return thread.id;
  });
}
