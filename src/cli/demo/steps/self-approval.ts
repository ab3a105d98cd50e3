import type { Cast } from '../cast';
import { expectAnswer, expectEqual } from '../expectation';
import { createdKeyShape, problemShape, type WaitingFor } from '../shapes';
import type { Story } from '../story';
import { resolveAt } from './payment';

export function refuseSelfApproval(story: Story, cast: Cast, wait: WaitingFor): Promise<void> {
  return story.step('The agent tries to approve its own call: refused, with whatever key.', async () => {
    const body = { decision: 'allow', subjectDigest: wait.subjectDigest };
    const own = expectAnswer(await cast.agent.post(resolveAt(wait), body), 403, problemShape);
    expectEqual('the problem', own.type, '/problems/forbidden');
    story.say(`403 ${own.title}: its key lacks the scope waits:resolve`);

    const second = { owner: 'agent', scopes: ['waits:resolve'] };
    const key = expectAnswer(await cast.admin.post('/v1/keys', second), 201, createdKeyShape);
    try {
      const answer = await cast.holding(key.token).post(resolveAt(wait), body);
      const problem = expectAnswer(answer, 403, problemShape);
      expectEqual('the problem', problem.type, '/problems/own-call');
      story.say(`403 ${problem.title}: even with a second key, which has that scope`);
    } finally {
      await cast.admin.delete(`/v1/keys/${key.id}`);
    }
  });
}
