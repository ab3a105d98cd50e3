/** One kind of problem. `title` never varies between occurrences; what varies goes into `detail`. */
export interface ProblemType {
  readonly status: number;
  readonly title: string;
  /** When a caller meets it. */
  readonly when: string;
  /** What the caller does about it. */
  readonly remedy: string;
}

/** Problems of threads, turns, calls and waits. */
export const GATE_PROBLEM_TYPES = {
  'thread-closed': {
    status: 409,
    title: 'The thread is closed',
    when: 'A call is made in a thread that was closed.',
    remedy: 'Open a new thread.',
  },
  'call-not-decided': {
    status: 409,
    title: 'The call is not decided yet',
    when: 'An output is reported for a call that still waits. The tool should not have run.',
    remedy: 'Wait until the call is `allowed`, run the tool with its `input`, then report.',
  },
  'result-reported': {
    status: 409,
    title: 'Another result was reported before',
    when: 'The call has a result that its hooks are judging, and another one is reported.',
    remedy: 'The first report counts. Read the call to see what became of it.',
  },
  'runs-here': {
    status: 409,
    title: 'The service runs this tool',
    when: 'An output is reported for a call with `execution: server`.',
    remedy: 'Do not run the tool. Read the call to see what came of it.',
  },
  'tool-server-unavailable': {
    status: 503,
    title: "A tool's server cannot be asked",
    when: 'A call with `execution: server` names a tool that an MCP server of the profile may have, and the server does not answer.',
    remedy: 'Nothing has run. Send the request again later, under the same Idempotency-Key.',
  },
  'call-ended': {
    status: 409,
    title: 'The call has ended',
    when: 'The call ended before; `status` says how. A reported output is noted in the audit by its digest only.',
    remedy: 'Read the call. To run the tool again, make a new call.',
  },
  'wait-resolved': {
    status: 409,
    title: 'The wait is resolved already',
    when: 'Somebody answered first; `outcome` is what won.',
    remedy: 'Nothing is left to do. Read the call to see how it went on.',
  },
  'digest-mismatch': {
    status: 409,
    title: 'The value has changed',
    when: 'The `subjectDigest` that was sent is not the digest of the value that waits now.',
    remedy: 'Read the wait again, judge the value it has now, and send its `subjectDigest`.',
  },
  'delivery-closed': {
    status: 409,
    title: 'The delivery takes no answer any more',
    when: 'The hook has answered this delivery already, its call went on without the answer, or the hook only observes.',
    remedy: 'Do not send the answer again.',
  },
  'wait-expired': {
    status: 410,
    title: 'The wait has expired',
    when: 'By the clock of the workflow the answer came at or after `expiresAt`.',
    remedy: 'Nothing is left to do: the time-out decided.',
  },
  'wait-cancelled': {
    status: 410,
    title: 'The wait was cancelled',
    when: 'The call or its thread was given up, or its workflow was ended, before an answer came.',
    remedy: 'Nothing is left to do.',
  },
  'not-an-approver': {
    status: 403,
    title: 'Not an approver of this hook',
    when: 'The hook names its approvers and the owner of the key is not among them.',
    remedy: 'Ask one of the approvers.',
  },
  'own-call': {
    status: 403,
    title: 'Nobody approves their own call',
    when: 'The owner of the key asked for the call, and the hook does not say `allowSelfApproval`.',
    remedy: 'Have another owner answer.',
  },
  'digest-required': {
    status: 422,
    title: 'The digest of the value is required',
    when: 'The hook wants several approvals, or a person has edited the value, and the answer lets it through.',
    remedy: 'Read the wait and send its `subjectDigest`, so that what is approved is what was seen.',
  },
  'defer-skips-quorum': {
    status: 422,
    title: 'A defer would skip the other approvers',
    when: 'The hook wants several approvals and the answer is `defer`.',
    remedy: 'Answer `allow` or `deny`.',
  },
  gone: {
    status: 410,
    title: 'Gone',
    when: 'It existed and has ended.',
    remedy: 'Do not ask again.',
  },
  'no-model': {
    status: 409,
    title: 'The profile has no model',
    when: 'A turn is asked for, and the profile of the thread has no `configuration.model`.',
    remedy:
      'Give the profile a model, or run your own and have its texts judged with `…/inputs` and `…/outputs`.',
  },
  'turn-running': {
    status: 409,
    title: 'A turn is running',
    when: 'A turn is asked for while another one of the thread is running.',
    remedy: 'Wait at Location until it has ended, or give it up with DELETE.',
  },
  'turn-ended': {
    status: 409,
    title: 'The turn has ended',
    when: 'A turn is given up that has ended before; `turnStatus` says how.',
    remedy: 'Nothing is left to do. Read the turn.',
  },
} as const satisfies Record<string, ProblemType>;
