/** What a process of the fault tests is told by the test that starts it. */
export interface ProgramSetup {
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly redisUrl: string;
  readonly bundlePath: string;
  readonly tenant: string;
  readonly taskQueue: string;
  /** Where hooks send late answers. */
  readonly nexusUrl?: string;
  /** See crash-point.ts; absent: it lives until it is killed. */
  readonly crashAt?: string;
}

export const SETUP_VARIABLE = 'PORTCULLIS_FAULT_SETUP';

export function readSetup(): ProgramSetup {
  const json = process.env[SETUP_VARIABLE];
  if (json === undefined) throw new Error('this program is started by the fault tests');
  return JSON.parse(json) as ProgramSetup;
}

/** Tells the test that this process works; the process ends with the test's. */
export function announce(ready: { url?: string }): void {
  process.once('disconnect', () => process.exit(0));
  process.send?.(ready);
}
