/** Where the run's real servers are; written by the global set-up. */
export interface TestServices {
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly redisUrl: string;
  readonly bundlePath: string;
  readonly dataDir: string;
}

export const SERVICES_VARIABLE = 'PORTCULLIS_TEST_SERVICES';

export function testServices(): TestServices {
  const json = process.env[SERVICES_VARIABLE];
  if (json === undefined) throw new Error('the global set-up has not run');
  return JSON.parse(json) as TestServices;
}
