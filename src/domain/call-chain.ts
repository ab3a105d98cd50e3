import type { Denial, Reason } from './denial';
import { concludeChain, type ProcessorAnswer } from './hook-chain';
import { hooksAt, type ClientProcessor, type PlacedHook } from './hook';
import { MAX_WAIT_MS } from './hook-limits';
import { judgeOfHook, judgeOfPermission, UNMATCHED_TOOLS } from './judge';
import { hookMatches } from './matching';
import type { Point } from './point';
import type { PlacedPermission } from './profile';
import { isTextStart, type CallStart, type ToolCallStart } from './call';
import { pointOf } from './call-state';
import { openWait, type NewWait } from './call-parking';
import type { CallStep } from './call-step';

export function noteStarted(step: CallStep): void {
  const { start } = step;
  const { callId, turnId, profile, requestedBy, subject } = start;
  const facts = {
    ...(turnId !== undefined && { turnId }),
    profileId: profile.id,
    profileVersion: profile.version,
    requestedBy: requestedBy.owner,
    subjectDigest: subject.digest,
  };
  if (isTextStart(start)) {
    // It shows no value: the text is still to be judged.
    step.note({ type: 'text_started', data: { callId, point: start.point, ...facts } });
    return;
  }
  const { tool, toolUseId } = start;
  step.note({
    type: 'tool_call_started',
    data: { callId, tool, ...(toolUseId !== undefined && { toolUseId }), ...facts },
    shows: subject,
  });
}

/** Permissions come before all hooks: a denial or a permission ends the chain before it has begun. */
export function consultPermissions(step: CallStep): void {
  const placed = decidingPermission(step);
  if (placed !== undefined) decideByPermission(step, placed);
}

/** Goes on with the point's hooks in order until one has to be asked, parks the call, or the chain has its verdict. */
export function proceed(step: CallStep): void {
  const hooks = hooksAt(step.start.profile.hooks, pointOf(step.state));
  for (; step.state.chain.verdict === undefined; step.update({ asked: step.state.asked + 1 })) {
    const placed = hooks[step.state.asked];
    if (placed === undefined) break;
    if (!hookMatches(step.state.chain.subject, placed)) continue;
    const { processor, mode } = placed.hook;
    if (mode === 'enforce') step.update({ chain: { ...step.state.chain, enforced: true } });
    if (processor.type !== 'client') {
      step.update({ due: true });
      step.await({});
      return;
    }
    if (mode === 'enforce') {
      step.update({ asked: step.state.asked + 1 });
      openWait(step, judgeOfHook(placed), personsWait(step.start, placed, processor));
      return;
    }
    step.decideToAsk(judgeOfHook(placed), {}, { latencyMs: 0 });
  }
  const { start } = step;
  if (isTextStart(start)) concludeText(step);
  else if (pointOf(step.state) === 'before_tool_call') concludeBefore(step, start);
  else concludeAfter(step);
}

/** The text goes on its way, or it is withheld. */
function concludeText(step: CallStep): void {
  const verdict = concludeChain(step.state.chain);
  if (verdict.kind === 'deny') {
    finishDenied(step, verdict.denial);
    return;
  }
  step.keepText();
  step.finish('completed', { shows: step.state.chain.subject });
}

function finishDenied(step: CallStep, denial: Denial): void {
  step.finish(denial.by === 'cancelled' ? 'cancelled' : 'denied', { denial });
}

function concludeBefore(step: CallStep, start: ToolCallStart): void {
  if (step.state.chain.verdict === undefined && step.state.chain.enforced !== true) {
    if (applyUnmatched(step, start)) return;
  }
  recheckDenials(step);
  const verdict = concludeChain(step.state.chain);
  if (verdict.kind === 'allow') step.allow();
  else finishDenied(step, verdict.denial);
}

/** What the tool gave becomes the call's result, or it is withheld. */
function concludeAfter(step: CallStep): void {
  const { chain, reported } = step.state;
  if (reported === undefined) throw new Error('there is no result to judge');
  const verdict = concludeChain(chain);
  if (verdict.kind === 'deny') {
    finishDenied(step, verdict.denial);
    return;
  }
  const { subject } = chain;
  if (subject.kind !== 'blob') throw new Error('what a tool gave is kept in blobs only');
  const { result } = reported;
  step.updateToolCall(result === 'output' ? { output: subject } : { error: subject });
  step.finish(result === 'output' ? 'completed' : 'failed', { shows: subject });
}

/** Applies `unmatchedTools`. True when it parked the call. */
function applyUnmatched(step: CallStep, start: ToolCallStart): boolean {
  if (start.profile.unmatchedTools === undefined) return false;
  if (start.profile.unmatchedTools === 'deny') {
    step.decide(
      UNMATCHED_TOOLS,
      {
        outcome: 'answered',
        by: 'permission',
        decision: 'deny',
        reason: 'no rule of the profile names this tool',
      },
      { latencyMs: 0 },
    );
    return false;
  }
  step.update({ chain: { ...step.state.chain, enforced: true } });
  step.decideToAsk(UNMATCHED_TOOLS, {}, { latencyMs: 0 });
  openWait(step, UNMATCHED_TOOLS, askedPersonsWait(start, `Allow ${start.tool}?`, MAX_WAIT_MS));
  return true;
}

/** What nobody may run, nobody may run after an edit either. */
function recheckDenials(step: CallStep): void {
  const { verdict, ...chain } = step.state.chain;
  if (chain.rewrittenBy.length === 0 || verdict?.kind === 'deny') return;
  const placed = decidingPermission(step);
  if (placed?.permission.effect !== 'deny') return;
  step.update({ chain });
  decideByPermission(step, placed);
}

function decidingPermission({ start, state }: CallStep): PlacedPermission | undefined {
  const index = state.chain.subject.matching?.permission;
  return start.profile.permissions?.find((placed) => placed.index === index);
}

function decideByPermission(step: CallStep, { permission, index }: PlacedPermission): void {
  const { effect, reason } = permission;
  step.decide(
    judgeOfPermission(permission, index),
    { outcome: 'answered', by: 'permission', decision: effect, ...(reason !== undefined && { reason }) },
    { latencyMs: 0 },
  );
}

function personsWait(start: CallStart, { hook }: PlacedHook, processor: ClientProcessor): NewWait {
  const approvers = processor.approvers ?? start.defaultApprovers;
  return {
    kind: 'client',
    title: processor.title ?? titleFor(start, hook.point),
    timeoutMs: processor.asyncTimeoutMs,
    needed: processor.minApprovals,
    ...(approvers !== undefined && { approvers }),
    allowSelfApproval: processor.allowSelfApproval,
  };
}

/** The wait of a rule that asks for a person and is none itself. */
export function askedPersonsWait(start: CallStart, title: string, timeoutMs: number): NewWait {
  const { defaultApprovers } = start;
  return {
    kind: 'ask',
    title,
    timeoutMs,
    needed: 1,
    ...(defaultApprovers !== undefined && { approvers: defaultApprovers }),
    allowSelfApproval: false,
  };
}

export function titleFor(start: CallStart, point: Point): string {
  if (isTextStart(start)) return point === 'before_input' ? 'Let this input in?' : 'Let this text out?';
  return point === 'before_tool_call' ? `Allow ${start.tool}?` : `Return what ${start.tool} gave?`;
}

export function cancelledDenial(
  { by, code }: { by: string; code: string },
  executed: boolean | 'unknown',
): Denial {
  return { by: 'cancelled', reason: cancellation({ by, code }), executed };
}

export function cancellation({ by, code }: { by: string; code: string }): Reason {
  return { code, text: `given up by ${by}` };
}

/** A failure of a judge that nobody answered for. */
export function timedOut(code: 'approval_timeout' | 'hook_answer_timeout'): ProcessorAnswer {
  return { outcome: 'timeout', reason: { code, text: 'nobody answered in time' } };
}
