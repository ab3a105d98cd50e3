import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { z } from 'zod';
import { readAnswer } from '../../coder/answer';
import { EVENT_TYPES, type EventType } from '../../coder/event';
import { MIN_SECRET_BYTES, secretBytes, signToken } from '../../coder/token';
import { SettingsError } from '../service/settings-error';

export interface SimulateOptions {
  /** JSON lines: `{ type, data?, meta? }`; `-` is standard input. */
  readonly file: string;
  readonly url: string;
  readonly audience?: string;
  readonly workspace?: string;
  readonly concurrency?: string;
  readonly timeout?: string;
}

const lineSchema = z.strictObject({
  type: z.enum(EVENT_TYPES),
  data: z.record(z.string(), z.unknown()).default({}),
  meta: z.record(z.string(), z.unknown()).default({}),
});

type Line = z.output<typeof lineSchema>;

interface Sent {
  readonly type: EventType;
  readonly outcome: string;
  readonly ms: number;
}

/**
 * `portcullis coder simulate`: signs events as Coder does, posts them to any ingress, reads the answers as strictly, and
 * prints one line for each and figures at the end. Ends with 1 when an answer was none that Coder would take.
 */
export async function simulate(env: NodeJS.ProcessEnv, options: SimulateOptions): Promise<number> {
  const secret = env['CODER_HOOK_SECRET'] ?? '';
  if (secretBytes(secret).length < MIN_SECRET_BYTES) {
    throw new SettingsError(
      `set CODER_HOOK_SECRET to the secret of the ingress, at least ${MIN_SECRET_BYTES} bytes`,
    );
  }
  const lines = readLines(options.file);
  const at = {
    secret: secretBytes(secret),
    url: options.url,
    audience: options.audience ?? options.url,
    timeoutMs: wholeNumber('--timeout', options.timeout ?? '1500'),
    meta: {
      chat_id: randomUUID(),
      owner_id: randomUUID(),
      ...(options.workspace !== undefined && { workspace_id: options.workspace }),
    },
  };
  const began = performance.now();
  const sent: Sent[] = [];
  const left = lines.map((line, index) => ({ line, index }));
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const result = await post(one.line, at);
      sent.push(result);
      console.log(`${one.index + 1} ${result.type} ${result.outcome} ${result.ms.toFixed(0)} ms`);
    }
  };
  const concurrency = wholeNumber('--concurrency', options.concurrency ?? '1');
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, next));
  console.log(figures(sent, performance.now() - began));
  return sent.some(({ outcome }) => outcome.startsWith('error')) ? 1 : 0;
}

function readLines(file: string): Line[] {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new SettingsError(`the events cannot be read: ${file}`, { cause });
  }
  return text
    .split('\n')
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => readLine(line, number));
}

function readLine(line: string, number: number): Line {
  try {
    return lineSchema.parse(JSON.parse(line));
  } catch (cause) {
    throw new SettingsError(`line ${number} is not { "type", "data"?, "meta"? } with a known type`, {
      cause,
    });
  }
}

async function post(
  { type, data, meta }: Line,
  at: { secret: Uint8Array; url: string; audience: string; timeoutMs: number; meta: { chat_id: string } },
): Promise<Sent> {
  const whole = { dispatch_id: randomUUID(), schema_version: 1, ...at.meta, ...meta };
  const body = JSON.stringify({ type, meta: whole, data });
  const now = Math.floor(Date.now() / 1_000);
  const token = await signToken(
    {
      iss: 'simulation',
      sub: `coder:chat:${whole.chat_id}`,
      aud: at.audience,
      ...{ iat: now, nbf: now - 30, exp: now + 32, jti: whole.dispatch_id, type },
      body_sha256: createHash('sha256').update(body).digest('hex'),
    },
    at.secret,
  );
  const began = performance.now();
  const outcome = await exchange(type, { url: at.url, token, body, timeoutMs: at.timeoutMs });
  return { type, outcome, ms: performance.now() - began };
}

async function exchange(
  type: EventType,
  { url, token, body, timeoutMs }: { url: string; token: string; body: string; timeoutMs: number },
): Promise<string> {
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    if (answer.statusCode < 200 || answer.statusCode > 299) return `error status ${answer.statusCode}`;
    const reading = readAnswer(type, bytes);
    if (!reading.ok) return `error ${reading.problem}`;
    const { permission } = reading.answer;
    if (permission === undefined) return 'no objection';
    return permission.decision === 'allow' ? 'rewritten' : `denied: ${permission.reason ?? ''}`;
  } catch (error) {
    return `error ${error instanceof Error && error.name === 'TimeoutError' ? 'time-out' : 'no answer'}`;
  }
}

function figures(sent: readonly Sent[], elapsedMs: number): string {
  const times = sent.map(({ ms }) => ms).sort((one, other) => one - other);
  const at = (part: number): string =>
    (times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0).toFixed(0);
  const errors = sent.filter(({ outcome }) => outcome.startsWith('error')).length;
  const rate = elapsedMs === 0 ? 0 : (sent.length * 1_000) / elapsedMs;
  return `${sent.length} events, ${errors} errors, ${rate.toFixed(0)}/s, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`;
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new SettingsError(`${option} is a whole number`);
  return Number(text);
}
