import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { environment, PORTCULLIS, RunningSystem, SYSTEM_TIMEOUT_MS } from './running-system';

let system: RunningSystem;
const folders: string[] = [];
const servers: Server[] = [];
beforeAll(async () => {
  system = await RunningSystem.start();
}, SYSTEM_TIMEOUT_MS);
afterAll(async () => {
  for (const server of servers) server.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await system.stop();
}, SYSTEM_TIMEOUT_MS);

async function demo(dataDir: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [PORTCULLIS, 'demo', '--data', dataDir], {
    env: environment(dataDir),
  });
  const [stdout, stderr, code] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    new Promise<number | null>((ended) => child.once('close', ended)),
  ]);
  return { code, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** The running system, except for the requests that the given function answers with a status of its own. */
async function behind(answerInstead: (request: IncomingMessage) => number | undefined): Promise<string> {
  const nexus = system.readJson('ready.json')['nexus'] ?? '';
  const server = createServer((request, response) => {
    void (async () => {
      const status = answerInstead(request);
      const body = await buffer(request);
      if (status !== undefined) return response.writeHead(status).end('{"status":"resolved"}');
      const { method = 'GET', url = '/' } = request;
      const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
      const real = await fetch(nexus + url, { method, headers, ...(body.length > 0 && { body }) });
      return response.writeHead(real.status).end(await real.text());
    })();
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const dataDir = mkdtempSync(join(tmpdir(), 'portcullis-fake-'));
  folders.push(dataDir);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(
    join(dataDir, 'ready.json'),
    JSON.stringify({ ...system.readJson('ready.json'), nexus: url }),
  );
  writeFileSync(join(dataDir, 'keys.json'), JSON.stringify(system.readJson('keys.json')));
  return dataDir;
}

function eventsOf(table: string): string[] {
  return [...table.matchAll(/^ +\d+ +[\d:.]{12} {2}(\w+)/gm)].map(([, type = '']) => type);
}

test('the demo ends with 0, and its tables show the audit of both threads', async () => {
  const { code, stdout, stderr } = await demo(system.dataDir);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [first = '', second = ''] = stdout.split('and of the thread that was closed:');
  const parked = ['tool_call_started', 'wait_opened', 'wait_resolved', 'hook_decision'];
  expect(eventsOf(first)).toEqual([
    ...['thread_created', 'tool_call_started'],
    ...[...parked, 'tool_finished', 'tool_call_finished'],
    ...[...parked, 'tool_call_finished'],
    'tool_call_started',
  ]);
  expect(eventsOf(second)).toEqual([
    ...['thread_created', 'tool_call_started', 'wait_opened', 'thread_closed'],
    ...['wait_resolved', 'hook_decision', 'tool_call_finished'],
  ]);
  expect(stdout).toContain('Every step was as it should be.');
}, 60_000);

test('a system that lets the agent approve its own call fails the demo, which says what it expected and found', async () => {
  const isResolve = ({ url = '' }: IncomingMessage) => url.endsWith('/resolve');
  const { code, stderr } = await demo(await behind((request) => (isResolve(request) ? 200 : undefined)));
  expect(code).toBe(1);
  expect(stderr).toMatch(/Step 6 failed: .*its own call[^]*expected: .* to answer 403\s+found: +200/);
}, 60_000);

test('a system that loses what was asked fails the demo', async () => {
  const isOutput = ({ url = '' }: IncomingMessage) => url.endsWith('/output');
  const { code, stderr } = await demo(await behind((request) => (isOutput(request) ? 500 : undefined)));
  expect(code).toBe(1);
  expect(stderr).toMatch(/Step 8 failed[^]*found: +500/);
}, 60_000);

test(
  'with nothing running the demo starts a system of its own and leaves nothing of it',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'portcullis-empty-'));
    folders.push(dataDir);
    const { code, stdout } = await demo(dataDir);
    expect(code).toBe(0);
    const [, nexus = ''] = /It runs at (\S+)\.\n/.exec(stdout) ?? [];
    await expect(fetch(`${nexus}/healthz`)).rejects.toThrow('fetch failed');
    expect(stdout).toContain('is stopped and its data are removed');
  },
  SYSTEM_TIMEOUT_MS,
);
