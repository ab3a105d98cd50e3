import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { resolveSettings } from '../../src/cli/embedded/embedded-settings';
import { SETTINGS } from '../../src/cli/embedded/setting-table';
import { Scratch } from './scratch';

const HERE = '/somewhere';
const scratch = new Scratch();

afterAll(() => scratch.clear());

function profileFile(content: string): string {
  const path = join(scratch.folder(), 'temporal.toml');
  writeFileSync(path, content);
  return path;
}

describe('settings of the embedded run', () => {
  test('without any, everything is embedded on the documented ports in .portcullis', () => {
    expect(resolveSettings({}, {}, HERE)).toEqual({
      dataDir: '/somewhere/.portcullis',
      servicesDir: '/somewhere/.portcullis/services',
      nexusPort: 7070,
      managerPort: 7071,
      temporal: { kind: 'embedded', port: 7233, uiPort: 8233, binary: undefined },
      redis: { kind: 'embedded', port: 6390, appendFsync: 'always', binary: undefined },
    });
  });

  test('an option wins over its variable, and an empty variable is an unset one', () => {
    const settings = resolveSettings({ port: 1 }, { PORTCULLIS_PORT: '2', PORTCULLIS_DATA: '' }, HERE);
    expect(settings).toMatchObject({ nexusPort: 1, dataDir: resolve(HERE, '.portcullis') });
  });

  test('each option has the name of its variable', () => {
    for (const { env, option } of Object.values(SETTINGS)) {
      const name = option.replace(/^--([a-z-]+) <.*$/, '$1');
      expect(env).toBe(`PORTCULLIS_${name.replaceAll('-', '_').toUpperCase()}`);
    }
  });

  test.each(['-1', '65536', 'http', '7070.5', '0x10'])(
    'the port %s is refused and its setting named',
    (port) => {
      expect(() => resolveSettings({}, { PORTCULLIS_REDIS_PORT: port }, HERE)).toThrow(
        /PORTCULLIS_REDIS_PORT.*0 to 65535/,
      );
    },
  );

  test('two uses of one port are refused, two of a free port are not', () => {
    expect(() => resolveSettings({ port: 7233 }, {}, HERE)).toThrow(
      /PORTCULLIS_PORT and PORTCULLIS_TEMPORAL_PORT/,
    );
    expect(() =>
      resolveSettings({ port: 0, temporalPort: 0, temporalUiPort: 0, redisPort: 0 }, {}, HERE),
    ).not.toThrow();
  });

  test('the durability of Redis is one of two words', () => {
    expect(resolveSettings({ redisFsync: 'everysec' }, {}, HERE).redis).toMatchObject({
      appendFsync: 'everysec',
    });
    expect(() => resolveSettings({ redisFsync: 'no' }, {}, HERE)).toThrow(/PORTCULLIS_REDIS_FSYNC/);
  });

  test('TEMPORAL_ADDRESS and PORTCULLIS_TENANTS replace the embedded servers', () => {
    const settings = resolveSettings(
      {},
      {
        TEMPORAL_ADDRESS: 'temporal.example:7233',
        TEMPORAL_NAMESPACE: 'gate',
        TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml',
        PORTCULLIS_TENANTS: 'acme=redis://:a,b@one:1,local=rediss://two:2',
      },
      HERE,
    );
    expect(settings.temporal).toEqual({
      kind: 'external',
      address: 'temporal.example:7233',
      namespace: 'gate',
    });
    expect(settings.redis).toMatchObject({ kind: 'external', redisUrl: 'rediss://two:2' });
  });

  test('a profile that was named but has no address is an error, not an embedded server', () => {
    const TEMPORAL_CONFIG_FILE = profileFile('[profile.default]\nnamespace = "gate"\n');
    expect(() => resolveSettings({}, { TEMPORAL_CONFIG_FILE }, HERE)).toThrow(
      /TEMPORAL_CONFIG_FILE.*no address/,
    );
  });

  test('a Temporal profile that was named is used', () => {
    const TEMPORAL_CONFIG_FILE = profileFile('[profile.work]\naddress = "cluster:7233"\n');
    const { temporal } = resolveSettings({}, { TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE: 'work' }, HERE);
    expect(temporal).toEqual({ kind: 'external', address: 'cluster:7233', namespace: 'default' });
  });

  test('a wrong tenant list is refused without showing its passwords', () => {
    for (const list of [
      'local',
      'LOCAL=redis://:secret@h',
      'a=http://:secret@h',
      'a=redis://h,a=redis://:secret@h',
    ]) {
      const attempt = (): unknown => resolveSettings({}, { PORTCULLIS_TENANTS: list }, HERE);
      expect(attempt).toThrow(/PORTCULLIS_TENANTS/);
      expect(attempt).not.toThrow(/secret/);
    }
  });
});
