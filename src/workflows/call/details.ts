import type { Wait } from '../../domain/wait';
import { isTextStart, runsHere, type CallStart } from '../../domain/call';
import { openWaitOf, type CallState } from '../../domain/call-state';

/** What a person who opens the workflow in the Temporal UI needs at a glance, in Markdown. Never a value. */
export function describeCall(start: CallStart, state: CallState, notice?: string): string {
  const { call } = state;
  const lines = [
    `### ${headline(start, state)}`,
    '',
    isTextStart(start) ? `Text at ${code(start.point)}` : `Tool: ${code(start.tool)}`,
    `Asked for by: ${code(start.requestedBy.owner)}`,
  ];
  lines.push(`Profile: ${code(start.profile.id)}, version ${start.profile.version}`);
  const open = openWaitOf(state);
  if (open !== undefined) {
    const { wait } = open;
    const who = wait.approvers === undefined ? 'any approver' : wait.approvers.map(code).join(', ');
    lines.push(
      `Hook: ${code(wait.hookId)} (${escape(wait.title)})`,
      `Who may answer: ${who}`,
      `Approvals: ${wait.votes.length} of ${wait.needed}`,
      `Until: ${call.expiresAt ?? ''}; then the hook's onFailure applies`,
      `Wait: ${code(wait.id)}`,
      `Digest of what would run: ${code(wait.subject.digest)}`,
      '',
      `Answer over HTTP, or send the signal resolveWait with ${code(suggestedSignal(wait))}`,
    );
  }
  if (call.status === 'allowed')
    lines.push(
      runsHere(start)
        ? `The caller has until ${call.expiresAt ?? ''} to ask for the decision; then the tool runs.`
        : `The caller has until ${call.expiresAt ?? ''} to report the output.`,
    );
  if (call.denial !== undefined) {
    const { by, hookId, reason } = call.denial;
    lines.push(
      `Denied by: ${by}${hookId === undefined ? '' : `, hook ${code(hookId)}`} (${code(reason.code)})`,
    );
  }
  if (notice !== undefined) lines.push('', `**${escape(notice)}**`);
  return lines.join('  \n');
}

/** Names the digest where an answer that lets the value through must. */
function suggestedSignal({ id, needed, edited, subject }: Wait): string {
  const digest = needed > 1 || edited ? { subjectDigest: subject.digest } : {};
  return JSON.stringify({ waitId: id, decision: 'allow', ...digest });
}

function headline(start: CallStart, state: CallState): string {
  if (state.n === 0) return 'Being decided';
  const open = openWaitOf(state);
  return open === undefined
    ? headlinesOf(start)[state.call.status]
    : `Waiting for a person: ${escape(open.wait.title)}`;
}

const HEADLINES = {
  waiting: 'Waiting',
  allowed: 'Allowed; the caller runs the tool',
  running: 'Running',
  completed: 'Completed',
  denied: 'Denied; the tool did not run',
  failed: 'The tool ran and failed',
  cancelled: 'Cancelled',
  expired: 'Expired; no output was reported in time',
} as const;

const RUNNING_HERE = {
  ...HEADLINES,
  allowed: 'Allowed; runs when its caller asks for the decision',
  failed: 'The tool failed, or it is not known what came of it',
  expired: 'Expired; nobody asked for the decision in time',
} as const;

function headlinesOf(start: CallStart): Readonly<Record<CallState['call']['status'], string>> {
  if (isTextStart(start)) return TEXT_HEADLINES;
  return runsHere(start) ? RUNNING_HERE : HEADLINES;
}

const TEXT_HEADLINES = {
  ...HEADLINES,
  completed: 'Let through',
  denied: 'Withheld',
} as const;

/** Names come from callers and must not become Markdown. */
function code(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

function escape(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|!]/g, '\\$&');
}
