import { startMcpServer, type McpToolServer } from '../support/mcp-server';
import { startModelServer, type ModelScript, type ModelServer } from '../support/model-server';
import { startToolServer, type ToolServer } from '../support/tool-server';
import { Scene, type SceneHook } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

/** Turns whose tools the service runs itself: nobody has to report anything. */
let stack: Stack;
let http: ToolServer;
let server: McpToolServer;
let model: ModelServer;

const script: ModelScript = ({ body }) =>
  body.messages.some(({ role }: { role: string }) => role === 'tool')
    ? { text: 'Done.' }
    : {
        calls: [
          ['pay', { amount: 900 }],
          ['far_echo', { n: 1 }],
          ['gone', {}],
        ],
      };

beforeAll(async () => {
  stack = await startStack();
  http = await startToolServer(({ text }) => ({ paid: JSON.parse(text).amount }));
  server = await startMcpServer([{ name: 'echo', description: 'Says it again' }]);
  model = await startModelServer(script);
});
afterAll(async () => {
  await model.close();
  await server.close();
  await http.close();
  await stack.stop();
});

const scene = (hooks: readonly SceneHook[]): Promise<Scene> =>
  Scene.set(stack, hooks, undefined, {
    model: { baseUrl: model.baseUrl, name: 'scripted' },
    tools: [
      { kind: 'http', name: 'pay', method: 'POST', url: `${http.url}/pay` },
      { kind: 'mcp', name: 'remote', url: server.url, prefix: 'far.' },
    ],
  });

async function firstCall(at: Scene, tool: string) {
  for (;;) {
    const { body } = await at.agent.get(`/v1/threads/${at.threadId}/tool-calls`);
    const call = body.items.find((one: { tool: string }) => one.tool === tool);
    if (call?.pendingWaits.length > 0) return call;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a turn runs its tools, parked and edited ones with what was approved, and tells the model each result in its place', async () => {
  const at = await scene([{ id: 'person', tools: ['pay'] }]);
  const made = await at.turn('do it');
  const parked = await firstCall(at, 'pay');
  await at.resolve(parked.pendingWaits[0].id, { decision: 'allow', updatedInput: { amount: 25 } });
  const done = await at.readTurn(made.body.id, 30);
  expect(done.body).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(http.seen.map(({ text }) => text)).toEqual(['{"amount":25}']);
  expect(server.seen.map(({ input }) => input)).toEqual([{ n: 1 }]);

  const [first, last] = [model.asked[0]!.body, model.asked.at(-1)!.body];
  expect(first.tools.map(({ function: { name } }: { function: { name: string } }) => name)).toEqual([
    'pay',
    'far_echo',
  ]);
  const told = last.messages
    .filter(({ role }: { role: string }) => role === 'tool')
    .map(({ content }: { content: string }) => JSON.parse(content));
  expect(told).toMatchObject([
    { status: 'completed', output: { status: 200, json: { paid: 25 } } },
    { status: 'completed', output: { content: [{ type: 'text', text: '{"n":1}' }] } },
    { status: 'failed', executed: false },
  ]);
});

test('a tool that failed, or whose outcome nobody knows, is told to the model as what it is', async () => {
  http.behave((_, response) => {
    response.destroy();
    return undefined;
  });
  server.behave(() => ({ content: [{ type: 'text', text: 'no such thing' }], isError: true }));
  const at = await scene([]);
  const made = await at.turn('do it');
  expect((await at.readTurn(made.body.id, 30)).body.status).toBe('completed');
  const told = model.asked
    .at(-1)!
    .body.messages.filter(({ role }: { role: string }) => role === 'tool')
    .map(({ content }: { content: string }) => JSON.parse(content));
  expect(told).toMatchObject([
    { status: 'failed', error: { code: 'outcome_unknown', executed: 'unknown' } },
    { status: 'failed', error: { code: 'tool_error', executed: true } },
    { status: 'failed', executed: false },
  ]);
});
