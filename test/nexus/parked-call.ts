import { v7 as uuidv7 } from 'uuid';
import type { JsonValue } from '../../src/domain/json-value';
import { pinProfile, type Profile } from '../../src/domain/profile';
import { inlineSubject } from '../../src/domain/subject';
import { requestDigest, type ToolCallStart } from '../../src/domain/call';
import { answerCall } from '../../src/domain/call-answer';
import { openCall } from '../../src/domain/call-machine';
import type { CallState } from '../../src/domain/call-state';
import type { TenantStore } from '../../src/store/tenant-store';

/** A call as its workflow would have stored it: the rules are the real ones, only Temporal is not asked. */
interface StoredCall {
  readonly callId: string;
  readonly waitId: string;
  answer(owner: string, decision: 'allow' | 'deny'): Promise<void>;
}

export async function storeCall(
  store: TenantStore,
  profile: Profile,
  options: { threadId: string; tool: string; input?: JsonValue; owner?: string },
): Promise<StoredCall> {
  const { threadId, tool, input = {}, owner = 'agent' } = options;
  const start: ToolCallStart = {
    tenant: store.tenant,
    callId: uuidv7(),
    threadId,
    profile: pinProfile(profile, tool),
    tool,
    execution: 'caller',
    subject: inlineSubject({ point: 'before_tool_call', tool, value: input }),
    requestDigest: requestDigest({ tool, input, execution: 'caller' }),
    requestedBy: { owner, keyId: 'a-key' },
    operatorSignal: true,
    createdAt: new Date().toISOString(),
    storedAsAllowed: false,
  };
  const opened = openCall(start, Date.now());
  await store.calls.commit(opened, { start });
  let state: CallState = opened.state;
  const waitId = state.wait?.wait.id ?? '';
  return {
    callId: start.callId,
    waitId,
    async answer(resolver, decision) {
      const subjectDigest = state.wait?.wait.subject.digest ?? '';
      const outcome = answerCall(start, state, {
        input: {
          waitId,
          answerId: uuidv7(),
          answerDigest: decision,
          answer: { decision, subjectDigest },
          principal: { owner: resolver, scopes: ['waits:resolve'] },
        },
        now: Date.now(),
      });
      if (outcome.kind !== 'step') throw new Error(JSON.stringify(outcome.reply));
      await store.calls.commit(outcome.transition);
      state = outcome.transition.state;
    },
  };
}
