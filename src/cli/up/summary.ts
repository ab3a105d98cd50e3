import { join } from 'node:path';

import type { ReadyState } from './ready-file';

/** What the person reads when everything answers. No secret is in it. */
export function summary(state: ReadyState, dataDir: string, nextSteps: readonly string[]): string {
  const rows = [
    ['Nexus', state.nexus],
    ...(state.manager === undefined ? [] : [['Manager', state.manager]]),
    ['Temporal', `${state.temporalAddress} (namespace ${state.temporalNamespace})`],
    ...(state.temporalUi === undefined ? [] : [['Temporal UI', state.temporalUi]]),
    ['Keys', join(dataDir, 'keys.json')],
    ['Logs', join(dataDir, 'logs')],
  ];
  return [
    'Portcullis is up.',
    '',
    ...rows.map(([name = '', value = '']) => `  ${name.padEnd(12)} ${value}`),
    '',
    ...nextSteps,
    'Ctrl-C stops everything that was started here; the data stay.',
  ].join('\n');
}
