import type { Cast } from '../cast';
import { expectAnswer, expectEqual } from '../expectation';
import { callShape, type Call } from '../shapes';
import type { Story } from '../story';
import { callAt } from './payment';

export function reportOutput(story: Story, { agent }: Cast, { threadId, id }: Call): Promise<void> {
  return story.step('The agent has run the tool and reports what came of it.', async () => {
    const output = { receipt: 'R-1' };
    const answer = await agent.post(`${callAt(threadId, id)}/output`, { output });
    const call = expectAnswer(answer, 200, callShape);
    expectEqual('the status', call.status, 'completed');
    expectEqual('the output', call.output, output);
    story.say(`200, status completed, output ${JSON.stringify(call.output)}`);
  });
}
