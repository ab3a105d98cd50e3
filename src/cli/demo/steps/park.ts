import type { Cast } from '../cast';
import { expectAnswer, expectEqual, expectFound } from '../expectation';
import { callShape, pageShape, threadShape, type Call, type WaitingFor } from '../shapes';
import type { Story } from '../story';
import { callsOf, PAYMENT, PAYMENT_TOOL } from './payment';

export function parkPayment(story: Story, cast: Cast, threadId: string): Promise<Call> {
  return story.step('It asks to pay 900 EUR with payments.transfer: the call is parked.', async () => {
    const answer = await cast.agent.post(callsOf(threadId), { tool: PAYMENT_TOOL, input: PAYMENT });
    const call = expectAnswer(answer, 202, callShape);
    expectEqual('the status', call.status, 'waiting');
    const [wait] = call.pendingWaits;
    expectEqual('the number of waits', call.pendingWaits.length, 1);
    expectEqual('the value that the agent is shown', wait?.value, undefined);
    story.say(`202, status waiting: “${wait?.title ?? ''}”, until ${wait?.expiresAt ?? ''}`);
    const url = cast.workflowUrl(call.id);
    if (url !== undefined) story.say(`Its workflow: ${url}`);
    return call;
  });
}

export function listWaiting(story: Story, { approver }: Cast, call: Call): Promise<WaitingFor> {
  return story.step('The approver lists the threads that wait, and sees what is asked.', async () => {
    const wait = expectFound('the thread of the call among those that wait', await findWait(approver, call));
    expectEqual('the value', wait.value, PAYMENT);
    expectEqual('the digest', wait.subjectDigest, call.subjectDigest);
    story.say(`${wait.tool} ${JSON.stringify(wait.value)}`);
    story.say(`digest ${wait.subjectDigest}`);
    return wait;
  });
}

/** Others may wait too, on as many pages as it takes. */
async function findWait(approver: Cast['approver'], call: Call): Promise<WaitingFor | undefined> {
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await approver.get(`/v1/threads?state=waiting&limit=100${after}`);
    const page = expectAnswer(answer, 200, pageShape(threadShape));
    const waits = page.items.flatMap(({ pendingWaits }) => pendingWaits);
    const found = waits.find(({ callId }) => callId === call.id);
    if (found !== undefined) return found;
    cursor = page.nextCursor;
  }
  return undefined;
}
