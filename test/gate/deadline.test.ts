import { DEFAULT_HOOKS } from '../../src/domain/default-hooks';
import { inlineSubject } from '../../src/domain/subject';
import type { ToolCallStart } from '../../src/domain/call';
import { createCallStoreActivities } from '../../src/activities/call-store';
import { HookAsking } from '../../src/workflows/call/hook-asking';
import { CallRun } from '../../src/workflows/call/call-run';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
let skipping: Stack;
beforeAll(async () => {
  [stack, skipping] = await Promise.all([startStack(), startStack({ skipTime: true })]);
});
afterAll(() => Promise.all([stack.stop(), skipping.stop()]));

describe('[S] no answer means that the work does not happen', () => {
  test.each(['payments.transfer', 'email.send', 'files.delete', 'Bash', 'deploy.now', 'iam.grant'])(
    'default hooks wait 24 hours for %s and then deny, as a time-out and not as a person',
    async (tool) => {
      const scene = await Scene.set(skipping);
      const call = await scene.call(tool, { x: 1 }, { prefer: 'wait=20' });
      expect(call).toMatchObject({
        status: 200,
        body: {
          status: 'denied',
          denial: { by: 'timeout', executed: false, reason: { code: 'approval_timeout' } },
        },
      });
      const [opened] = await scene.eventsOf(call.body.id, 'wait_opened');
      const [resolved] = await scene.eventsOf(call.body.id, 'wait_resolved');
      expect(Date.parse(resolved?.at ?? '') - Date.parse(opened?.at ?? '')).toBeGreaterThanOrEqual(
        86_400_000,
      );
      expect(resolved?.data).toMatchObject({ outcome: 'timeout', by: [] });
      const [decision] = await scene.eventsOf(call.body.id, 'hook_decision');
      expect(decision?.data).toMatchObject({ outcome: 'timeout', decision: 'deny' });
      expect(decision?.data).not.toHaveProperty('resolvedBy');
      expect((await scene.thread()).body).toMatchObject({ state: 'idle', pendingWaits: [] });
    },
  );

  test('under fail_open a time-out counts as no opinion, and the audit says that it was a time-out', async () => {
    const scene = await Scene.set(skipping, [{ id: 'lax', onFailure: 'fail_open' }]);
    const call = await scene.call('t', 1, { prefer: 'wait=20' });
    const [decision] = await scene.eventsOf(call.body.id, 'hook_decision');
    expect(decision?.data).toMatchObject({ outcome: 'timeout', decision: 'defer' });
    // Skipped time passes the output's deadline as well.
    expect(['allowed', 'expired']).toContain(call.body.status);
  });

  test('an output that never comes expires the call after an hour by default', async () => {
    const scene = await Scene.set(skipping, []);
    const call = await scene.call('t', 1);
    expect(call.body.status).toBe('allowed');
    expect(Date.parse(call.body.expiresAt) - Date.parse(call.body.createdAt)).toBe(3_600_000);
    let now = call;
    for (let look = 0; look < 100 && now.body.status === 'allowed'; look += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      now = await scene.read(call.body.id);
    }
    expect(now.body.status).toBe('expired');
    expect(await scene.output(call.body.id)).toMatchObject({ status: 409, body: { callStatus: 'expired' } });
  });
});

/** The rules, the real store, and a clock that stands where the test wants it. */
describe('only the clock of the workflow decides', () => {
  const WAIT_MS = 60_000;

  async function parkedRun(now: () => number) {
    const scene = await Scene.set(stack, []);
    const subject = inlineSubject({ point: 'before_tool_call', tool: 'payments.x', value: 1 });
    const [hook] = DEFAULT_HOOKS.hooks;
    const start: ToolCallStart = {
      tenant: stack.tenant,
      callId: `clock-${Math.random().toString(36).slice(2)}`,
      threadId: scene.threadId,
      profile: {
        id: scene.profileId,
        version: 1,
        hooks: [{ index: 0, hook: { ...hook!, processor: { ...hook!.processor, asyncTimeoutMs: WAIT_MS } } }],
        timeouts: { outputTimeoutMs: WAIT_MS },
      },
      tool: 'payments.x',
      execution: 'caller',
      subject,
      requestDigest: '-',
      requestedBy: { owner: 'agent', keyId: '-' },
      operatorSignal: true,
      createdAt: new Date(now()).toISOString(),
      storedAsAllowed: false,
    };
    const run = new CallRun(start, {
      store: createCallStoreActivities({ stores: stack.stores }),
      hooks: new HookAsking(),
      now,
      onChange: () => undefined,
      stoppable: () => {
        throw new Error('no hook of this call is asked');
      },
      runTool: () => {
        throw new Error('the caller runs the tool of this call');
      },
      review: () => {
        throw new Error('no agent judges this call');
      },
    });
    await run.open();
    return { scene, run, callId: start.callId };
  }

  const answer = (callId: string, decision: 'allow' | 'deny') => ({
    waitId: `${callId}-w1`,
    answerId: 'one',
    answerDigest: '-',
    answer: { decision },
    principal: { owner: 'ann', scopes: ['waits:resolve' as const] },
  });

  test.each([
    [-1, 'allow'],
    [-1, 'deny'],
    [0, 'allow'],
    [0, 'deny'],
    [1, 'allow'],
    [1, 'deny'],
  ] as const)(
    'an answer at the deadline %i ms (%s): everybody is told the same',
    async (offset, decision) => {
      let now = Date.now();
      const { scene, run, callId } = await parkedRun(() => now);
      now += WAIT_MS + offset;
      // The timer and the answer come in the same task; the order in which they are handled must not matter.
      const [reply] = await Promise.all([run.answer(answer(callId, decision)), run.tick()]);

      const inTime = offset < 0;
      expect(reply.ok).toBe(inTime);
      if (!reply.ok) expect(reply.refusal.code).toBe('expired');
      const call = await scene.read(callId);
      const late = { status: 'denied', denial: { by: 'timeout' } };
      const intime =
        decision === 'allow' ? { status: 'allowed' } : { status: 'denied', denial: { by: 'human' } };
      expect(call.body).toMatchObject(inTime ? intime : late);
      const resolved = await scene.eventsOf(callId, 'wait_resolved');
      expect(resolved.map(({ data }) => data.outcome)).toEqual([inTime ? 'answered' : 'timeout']);
      expect(await scene.eventsOf(callId, 'hook_decision')).toHaveLength(1);
      const later = await scene.resolve(`${callId}-w1`, { decision: 'allow' });
      expect(later.status).toBe(inTime ? 409 : 410);
    },
  );

  test('answers around a real deadline: resolver, call and audit never disagree', async () => {
    const scene = await Scene.set(stack, [{ id: 'gate', asyncTimeoutMs: 400 }]);
    const rounds = Array.from({ length: 30 }, async (_, round) => {
      const call = await scene.call('t', { round });
      const wait = call.body.pendingWaits[0];
      const offset = (round % 10) * 8 - 40;
      await new Promise((resolve) => setTimeout(resolve, Date.parse(wait.expiresAt) + offset - Date.now()));
      const answered = await scene.resolve(wait.id, { decision: 'allow' });
      const settled = await scene.read(call.body.id, 5);
      const resolved = (await scene.eventsOf(call.body.id, 'wait_resolved')).map(({ data }) => data.outcome);
      return { answered: answered.status, status: settled.body.status, resolved };
    });
    const seen = new Set((await Promise.all(rounds)).map((round) => JSON.stringify(round)));
    const legal = [
      { answered: 200, status: 'allowed', resolved: ['answered'] },
      { answered: 410, status: 'denied', resolved: ['timeout'] },
    ].map((round) => JSON.stringify(round));
    expect([...seen].filter((round) => !legal.includes(round))).toEqual([]);
    expect(seen.size).toBeGreaterThan(0);
  });
});
