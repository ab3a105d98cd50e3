import { randomUUID } from 'node:crypto';
import type { Cast } from '../cast';
import { expectAnswer, expectEqual } from '../expectation';
import { callShape, problemShape } from '../shapes';
import type { Story } from '../story';
import { callsOf } from './payment';

export function repeatCall(story: Story, { agent }: Cast, threadId: string): Promise<void> {
  return story.step('A request sent twice under one Idempotency-Key is one call.', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const request = { tool: 'files.read', input: { path: '/notes.txt' } };
    const first = expectAnswer(await agent.post(callsOf(threadId), request, headers), 200, callShape);
    const again = expectAnswer(await agent.post(callsOf(threadId), request, headers), 200, callShape);
    expectEqual('the id of the repeated call', again.id, first.id);
    story.say(`200 twice, and both times the call ${first.id}`);

    const other = { ...request, input: { path: '/other.txt' } };
    const answer = await agent.post(callsOf(threadId), other, headers);
    const problem = expectAnswer(answer, 422, problemShape);
    expectEqual('the problem', problem.type, '/problems/idempotency-key-reused');
    story.say(`Another request under that key: 422 ${problem.title}`);
  });
}
