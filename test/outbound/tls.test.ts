import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { SELF_SIGNED } from './self-signed';

const COMPILE = resolve(__dirname, '../embedded/fixtures/register-typescript.cjs');
const PROGRAM = resolve(__dirname, 'tls-program.ts');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-tls-'));
  await writeFile(join(folder, 'ca.pem'), SELF_SIGNED.cert);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Told {
  readonly port: number;
  readonly got: readonly object[];
  readonly told: object;
}

async function postBehindTls(env: NodeJS.ProcessEnv): Promise<Told> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--require', COMPILE, PROGRAM], {
    env: { ...process.env, ...env },
    timeout: 30_000,
  });
  return JSON.parse(stdout) as Told;
}

test('a receiver behind TLS is asked when the certificate is one that Node trusts', async () => {
  const { port, got, told } = await postBehindTls({ NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') });
  expect(told).toEqual({ status: 200, body: '{"decision":"allow"}' });
  expect(got).toEqual([{ host: `localhost:${port}`, body: '{"amount":5}' }]);
}, 30_000);

test('a receiver whose certificate nobody vouches for gets nothing', async () => {
  const { got, told } = await postBehindTls({ NODE_EXTRA_CA_CERTS: '' });
  expect(told).toMatchObject({ kind: 'failed', outcome: 'unreachable' });
  expect(got).toEqual([]);
}, 30_000);
