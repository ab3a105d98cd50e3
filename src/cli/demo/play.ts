import type { Cast } from './cast';
import { printAudit } from './steps/audit';
import { approveWithEdit } from './steps/approve';
import { closeThread } from './steps/close';
import { denyPayment } from './steps/deny';
import { callHarmlessTool, makeProfile, makeThread } from './steps/open';
import { listWaiting, parkPayment } from './steps/park';
import { repeatCall } from './steps/repeat';
import { reportOutput } from './steps/report';
import { refuseSelfApproval } from './steps/self-approval';
import type { Story } from './story';

/** The whole demo, in order. Every step checks what it gets. @throws StepFailed at the first that is wrong */
export async function play(story: Story, cast: Cast): Promise<void> {
  const profileId = await makeProfile(story, cast);
  const threadId = await makeThread(story, cast, profileId);
  await callHarmlessTool(story, cast, threadId);
  const call = await parkPayment(story, cast, threadId);
  const wait = await listWaiting(story, cast, call);
  await refuseSelfApproval(story, cast, wait);
  await approveWithEdit(story, cast, wait);
  await reportOutput(story, cast, call);
  await denyPayment(story, cast, threadId);
  await repeatCall(story, cast, threadId);
  const closed = await closeThread(story, cast, profileId);
  await printAudit(story, cast, { threadId, closedThreadId: closed });
}
