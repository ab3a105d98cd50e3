import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';

export interface HookResult {
  decision: 'allow' | 'deny' | 'defer' | 'ask';
  reason?: string;
  updatedInput?: unknown;
}

interface HookInput {
  tool: string;
  input: Record<string, unknown>;
  callback?: Callback;
}

interface Callback {
  url: string;
  token: string;
  expiresAt: string;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const REMEMBERED_DELIVERIES = 10_000;

const secret = process.env['HOOK_SECRET'] ?? '';
const webhook = secret.startsWith('whsec_')
  ? new Webhook(secret)
  : new Webhook(Buffer.from(secret), { format: 'raw' });
const answers = new Map<string, HookResult | 'later'>();

function decide({ tool, input, callback }: HookInput): HookResult | 'later' {
  if (!tool.startsWith('payments.')) return { decision: 'defer' };
  const { amount } = input;
  if (typeof amount !== 'number') return { decision: 'deny', reason: 'amount must be a number' };
  if (amount > 10_000) return { decision: 'deny', reason: 'no payment may exceed 10000' };
  if (tool === 'payments.refund' && amount > 500)
    return { decision: 'defer', updatedInput: { ...input, amount: 500 } };
  if (amount <= 1_000) return { decision: 'defer' };
  return callback ? 'later' : { decision: 'ask', reason: 'a person approves payments above 1000' };
}

async function review(): Promise<HookResult> {
  await delay(1_000);
  return { decision: 'allow', reason: 'reviewed' };
}

async function answerLater({ url, token, expiresAt }: Callback): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = { method: 'POST', headers, body: JSON.stringify(await review()), redirect: 'error' } as const;
  while (Date.now() < Date.parse(expiresAt)) {
    const sent = await fetch(url, { ...post, signal: AbortSignal.timeout(10_000) }).catch(() => undefined);
    if (sent && sent.status < 500 && sent.status !== 429) return;
    await delay(5_000);
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return bytes <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  if (body === undefined) return void response.writeHead(413).end();
  try {
    webhook.verify(body, request.headers as Record<string, string>, { jsonParse: false });
  } catch {
    return void response.writeHead(401).end();
  }
  const id = String(request.headers['webhook-id']);
  const delivery = JSON.parse(body.toString()) as HookInput;
  const answer = answers.get(id) ?? decide(delivery);
  if (answer === 'later' && !answers.has(id) && delivery.callback) void answerLater(delivery.callback);
  answers.set(id, answer);
  const [oldest] = answers.keys();
  if (answers.size > REMEMBERED_DELIVERIES && oldest !== undefined) answers.delete(oldest);
  if (answer === 'later') return void response.writeHead(202).end();
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}

const server = createServer((request, response) => {
  receive(request, response).catch(() => response.writeHead(500).end());
});
server.listen(Number(process.env['PORT'] ?? 8080), '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
