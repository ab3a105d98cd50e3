import type { ConfigurationInput } from '../../domain/profile-schema';
import { faultsProblem, type Fault } from '../http/fault';

/**
 * Outside development a hook or a model is never asked without TLS, at the own machine either.
 * @throws HttpProblem that lists every such address
 */
export function refuseLocalAddresses(
  { hooks = [], model }: Partial<Pick<ConfigurationInput, 'hooks' | 'model'>>,
  development: boolean,
): void {
  if (development) return;
  const faults = hooks.flatMap(({ processor }, index) =>
    processor.type === 'url' ? faultsOf(processor.url, `hooks/${index}/processor/url`) : [],
  );
  if (model !== undefined) faults.push(...faultsOf(model.baseUrl, 'model/baseUrl'));
  if (faults.length > 0) throw faultsProblem(faults);
}

function faultsOf(url: string, place: string): Fault[] {
  if (url.startsWith('https:')) return [];
  const detail = 'the URL must be https: this service does not run in development mode';
  return [{ in: 'body', pointer: `/configuration/${place}`, detail }];
}
