/** What the person at the terminal sees while something takes long. */
export interface Progress {
  /** Something worth keeping on the screen. */
  line(text: string): void;
  /** A passing state: overwritten in place on a terminal; elsewhere one plain line every five seconds at most. */
  status(text: string): void;
}

export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const PLAIN_STATUS_INTERVAL_MS = 5_000;
const CLEAR_LINE = '\r\u001b[K';

export const SILENT: Progress = { line: () => undefined, status: () => undefined };

export function createProgress(output: ProgressOutput): Progress {
  const terminal = output.isTTY === true;
  let lastPlainStatus = 0;
  let statusShown = false;

  return {
    line(text) {
      output.write(`${statusShown ? CLEAR_LINE : ''}${text}\n`);
      statusShown = false;
    },
    status(text) {
      if (terminal) {
        output.write(CLEAR_LINE + text);
        statusShown = true;
      } else if (Date.now() - lastPlainStatus >= PLAIN_STATUS_INTERVAL_MS) {
        lastPlainStatus = Date.now();
        output.write(`${text}\n`);
      }
    },
  };
}
