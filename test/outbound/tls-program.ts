import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { NOTHING_ALLOWED } from '../../src/outbound/address-rules';
import { OutboundHttp } from '../../src/outbound/outbound-http';
import { SELF_SIGNED } from './self-signed';

/** Posts to a receiver behind TLS, and prints what it got and what came back. Whom Node trusts is told by its environment. */
async function main(): Promise<void> {
  const got: object[] = [];
  const server = createServer(SELF_SIGNED, (request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        got.push({ host: request.headers.host, body: Buffer.concat(chunks).toString() });
        response.end('{"decision":"allow"}');
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const http = new OutboundHttp({ rules: { development: true, allow: NOTHING_ALLOWED } });
  const reply = await http.send({
    url: `https://localhost:${port}/`,
    headers: {},
    body: '{"amount":5}',
    timeoutMs: 5_000,
    maxAnswerBytes: 1_000,
  });
  const told =
    reply.kind === 'answer' ? { status: reply.status, body: String(Buffer.from(reply.body)) } : reply;
  console.log(JSON.stringify({ port, got, told }));
  await http.close();
  server.close();
}

void main();
