import type { Cast } from '../cast';
import { expectAnswer, expectEqual } from '../expectation';
import { callShape, resolutionShape, type WaitingFor } from '../shapes';
import type { Story } from '../story';
import { callAt, LOWERED_PAYMENT, resolveAt } from './payment';

export function approveWithEdit(story: Story, { agent, approver }: Cast, wait: WaitingFor): Promise<void> {
  return story.step('The agent waits; the approver lowers the amount to 250 and allows it.', async () => {
    const { threadId, callId, subjectDigest } = wait;
    const polled = agent.get(callAt(threadId, callId), { prefer: 'wait=30' });
    // Awaited below; what fails before must not leave it without a handler.
    polled.catch(() => undefined);

    const reason = 'only the first instalment';
    const answer = await approver.post(resolveAt(wait), {
      ...{ decision: 'allow', updatedInput: LOWERED_PAYMENT, reason, subjectDigest },
    });
    const { status, outcome } = expectAnswer(answer, 200, resolutionShape);
    expectEqual('the resolution', status, 'resolved');
    expectEqual('who resolved', outcome.by, ['approver']);
    story.say(`approver: 200, ${outcome.decision} by ${outcome.by.join(', ')} (“${reason}”)`);

    const call = expectAnswer(await polled, 200, callShape);
    expectEqual('the status', call.status, 'allowed');
    expectEqual('the approved input', call.input, LOWERED_PAYMENT);
    story.say(`agent: 200, status allowed, to be run with ${JSON.stringify(call.input)}`);
  });
}
