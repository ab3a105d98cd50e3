import { NOTHING_ALLOWED } from '../../src/outbound/address-rules';
import { OutboundHttp } from '../../src/outbound/outbound-http';
import { parseSecretMap } from '../../src/secrets/secret-map';
import { Secrets } from '../../src/secrets/secrets';
import type { OperatorServers } from '../../src/tools/operator-servers';
import { Toolbox } from '../../src/tools/toolbox';

/** The tenant's signing secret in all tests, and a hook's own one by the name `own`. */
export const TENANT_SIGNING = 'whsec_dGVuYW50LXNpZ25pbmctc2VjcmV0LW9mLXRlc3Rz';
export const OWN_SIGNING = 'whsec_b3duLXNpZ25pbmctc2VjcmV0LW9mLW9uZS1ob29r';
/** A secret that hooks send in a header, by the name `header`. */
export const HEADER_SECRET = 'header-secret-of-tests-0123456789';

/** Secrets as an operator would map them for a tenant. */
export function testSecrets(tenant: string): Secrets {
  const map = {
    [tenant]: {
      default: { from: ['env:TENANT'] },
      own: { from: ['env:OWN'] },
      header: { from: ['env:HEADER'] },
      elsewhere: { from: ['env:HEADER'], hosts: ['hooks.example.com'] },
    },
  };
  const env = { TENANT: TENANT_SIGNING, OWN: OWN_SIGNING, HEADER: HEADER_SECRET };
  return new Secrets(parseSecretMap(JSON.stringify(map)), { env });
}

/** The tools of a test's profiles. */
export function testToolbox(
  http: OutboundHttp,
  secrets: Secrets,
  servers: OperatorServers = new Map(),
): Toolbox {
  return new Toolbox({ http, secrets, operatorServers: servers, version: '0.0.0' });
}

/** Requests to hooks on loopback, as in development. */
export function testOutbound(): OutboundHttp {
  return new OutboundHttp({ rules: { development: true, allow: NOTHING_ALLOWED } });
}
