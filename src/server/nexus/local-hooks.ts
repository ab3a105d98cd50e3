import type { Hook } from '../../domain/hook-schema';
import { faultsProblem, type Fault } from '../http/fault';

/**
 * Outside development a hook is never asked without TLS, at the own machine either.
 * @throws HttpProblem that lists every such hook
 */
export function refuseLocalHooks(hooks: readonly Hook[] | undefined, development: boolean): void {
  if (development || hooks === undefined) return;
  const faults = hooks.flatMap(({ processor }, index): Fault[] =>
    processor.type === 'url' && !processor.url.startsWith('https:')
      ? [
          {
            in: 'body',
            pointer: `/configuration/hooks/${index}/processor/url`,
            detail: 'the URL must be https: this service does not run in development mode',
          },
        ]
      : [],
  );
  if (faults.length > 0) throw faultsProblem(faults);
}
