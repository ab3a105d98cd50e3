import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulate } from '../../src/cli/coder/simulate';
import { readToken, secretBytes } from '../../src/coder/token';
import { readBody } from '../../src/coder/verify-body';
import { SECRET } from './fixture';

/** An ingress that verifies as the real one does. */
let server: Server;
let url: string;
let folder: string;
const seen: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'simulate-'));
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void (async () => {
        const given = { secrets: [secretBytes(SECRET)], now: Date.now() / 1_000 };
        const token = await readToken(request.headers.authorization, given);
        const body = token.ok
          ? readBody(Buffer.concat(chunks), token.token.claims, { audience: url })
          : undefined;
        if (body?.ok !== true) {
          response.writeHead(401).end();
          return;
        }
        seen.push(body.event.type);
        const denial = '{"permission":{"decision":"deny","reason":"no"}}';
        response.end(
          body.event.type === 'pre_tool_use' ? denial : body.event.type === 'stop' ? '{"ok":true}' : '{}',
        );
      })();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

async function run(lines: readonly object[] | string, secret = SECRET) {
  const file = join(folder, 'events.jsonl');
  writeFileSync(
    file,
    typeof lines === 'string' ? lines : lines.map((line) => JSON.stringify(line)).join('\n'),
  );
  const printed: string[] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((text: string) => void printed.push(text));
  try {
    return { code: await simulate({ CODER_HOOK_SECRET: secret }, { file, url, concurrency: '2' }), printed };
  } finally {
    log.mockRestore();
  }
}

test('events are signed as the ingress wants them, and figures say what came of them', async () => {
  const tool = { type: 'pre_tool_use', data: { tool_use_id: 'a', tool_name: 'execute', tool_input: {} } };
  const { code, printed } = await run([{ type: 'session_start' }, tool, { type: 'pre_compact' }]);
  expect(code).toBe(0);
  expect(seen.sort()).toEqual(['pre_compact', 'pre_tool_use', 'session_start']);
  expect(printed.join('\n')).toMatch(/pre_tool_use denied: no/);
  expect(printed.at(-1)).toMatch(/^3 events, 0 errors, .* p95 \d+ ms/);
});

test('an answer that Coder would fail over is an error, as is a refusal', async () => {
  expect(await run([{ type: 'stop' }])).toMatchObject({ code: 1 });
  const refused = await run([{ type: 'session_start' }], 'another-secret-of-enough-bytes-for-anybody-x');
  expect(refused.printed[0]).toMatch(/error status 401/);
});

test('a file that holds no events is refused with its line', async () => {
  await expect(run('{"type":"session_start"}\n{"type":"nonsense"}')).rejects.toThrow(/line 2/);
  await expect(run([], 'short')).rejects.toThrow(/CODER_HOOK_SECRET/);
});
