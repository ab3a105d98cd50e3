import { NOTHING_ALLOWED } from '../../src/outbound/address-rules';
import { OutboundHttp } from '../../src/outbound/outbound-http';
import { Secrets } from '../../src/secrets/secrets';
import { Toolbox } from '../../src/tools/toolbox';

/** The service's own client of MCP servers: lists the tools of the server whose address it is given, and calls each. */
async function main(url: string): Promise<void> {
  const http = new OutboundHttp({ rules: { development: true, allow: NOTHING_ALLOWED } });
  const toolbox = new Toolbox({
    http,
    secrets: Secrets.none(),
    operatorServers: new Map(),
    version: '0.0.0',
  });
  const entry = { kind: 'mcp' as const, name: 'x', url, prefix: '', idempotentTools: [], timeoutMs: 10_000 };
  const { tools, unreachable } = await toolbox.list('t', { tools: [entry] });
  if (unreachable.length > 0) throw new Error('the server cannot be asked');
  for (const { runs } of tools) {
    if (runs === undefined) continue;
    const signal = new AbortController().signal;
    const result = await toolbox.run({
      tenant: 't',
      tool: runs,
      input: { a: 5, b: 3 },
      idempotencyKey: 'k',
      signal,
    });
    console.log(JSON.stringify(result));
  }
  await toolbox.close();
  await http.close();
}

main(process.argv[2] ?? '').catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
