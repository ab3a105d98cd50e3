import type { ConfigurationInput } from '../../domain/profile-schema';
import { faultsProblem, type Fault } from '../http/fault';

type Parts = Pick<ConfigurationInput, 'hooks' | 'model' | 'tools'>;
/** Absent members are those that an edit leaves as they are. */
type Addresses = { readonly [Member in keyof Parts]?: Parts[Member] | undefined };

/**
 * Outside development a hook, a model or a tool is never asked without TLS, at the own machine either.
 * @throws HttpProblem that lists every such address
 */
export function refuseLocalAddresses(
  { hooks = [], model, tools = [] }: Addresses,
  development: boolean,
): void {
  if (development) return;
  const faults = hooks.flatMap(({ processor }, index) =>
    processor.type === 'url' ? faultsOf(processor.url, `hooks/${index}/processor/url`) : [],
  );
  if (model !== undefined) faults.push(...faultsOf(model.baseUrl, 'model/baseUrl'));
  tools.forEach((tool, index) => {
    if (tool.kind !== 'caller' && tool.url !== undefined)
      faults.push(...faultsOf(tool.url, `tools/${index}/url`));
  });
  if (faults.length > 0) throw faultsProblem(faults);
}

function faultsOf(url: string, place: string): Fault[] {
  if (url.startsWith('https:')) return [];
  const detail = 'the URL must be https: this service does not run in development mode';
  return [{ in: 'body', pointer: `/configuration/${place}`, detail }];
}
