/** Why a start was refused or failed; stable, so that callers and tests can tell the cases apart. */
export type StartErrorCode =
  | 'bad_setting'
  | 'no_server'
  | 'server_too_old'
  | 'install_failed'
  | 'checksum_mismatch'
  | 'port_taken'
  | 'server_died'
  | 'server_silent'
  | 'child_died'
  | 'child_silent'
  | 'data_folder_in_use'
  | 'data_folder_version'
  | 'interrupted';

/** A failure the person at the terminal can mend. The message is shown as it is, without a stack, and says what to do. */
export class StartError extends Error {
  override readonly name = 'StartError';

  constructor(
    readonly code: StartErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Throws what the signal was aborted with; an abort without an error of its own becomes a `StartError` `interrupted`. */
export function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw interruption(signal);
}

export function interruption({ reason }: AbortSignal): Error {
  const isPlainAbort = !(reason instanceof Error) || reason.name === 'AbortError';
  return isPlainAbort ? new StartError('interrupted', 'Interrupted.', { cause: reason }) : reason;
}
