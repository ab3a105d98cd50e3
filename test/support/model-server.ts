import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as an OpenAI-compatible server got it. */
export interface AskedModel {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** What a model says: a text, calls of tools by name and arguments, or anything it likes to do with the response. */
export type ModelAnswer =
  | { readonly text?: string; readonly calls?: readonly (readonly [name: string, input: unknown])[] }
  | undefined;

export type ModelScript = (asked: AskedModel, response: ServerResponse) => ModelAnswer | Promise<ModelAnswer>;

/** A scripted OpenAI-compatible server on loopback. */
export interface ModelServer {
  readonly baseUrl: string;
  readonly asked: readonly AskedModel[];
  script(next: ModelScript): void;
  close(): Promise<void>;
}

export async function startModelServer(first: ModelScript = () => ({ text: 'ok' })): Promise<ModelServer> {
  let script = first;
  const asked: AskedModel[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = { body: JSON.parse(Buffer.concat(chunks).toString()), headers: request.headers };
      asked.push(one);
      void (async () => {
        const answer = await script(one, response);
        if (answer === undefined) return;
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(completion(answer)));
      })();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://localhost:${(server.address() as AddressInfo).port}/v1`,
    asked,
    script: (next) => {
      script = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function completion({ text, calls = [] }: NonNullable<ModelAnswer>): object {
  const toolCalls = calls.map(([name, input], index) => ({
    id: `use-${index}`,
    type: 'function',
    function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
  }));
  return {
    id: 'completion',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
        },
        finish_reason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}
