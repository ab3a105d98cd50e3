import { randomUUID } from 'node:crypto';
import { Scene } from '../support/scene';
import { startStack } from '../support/stack';
import { signed } from './fixture';
import { nexusThat, realTenant, send, useManager, world } from './manager-fixture';

useManager();

test('two tenants with equal tickets, chats and tool ids: nothing of one is in the other', async () => {
  const [one, two] = await Promise.all([startStack(), startStack()]);
  try {
    const chat_id = randomUUID();
    const sides = await Promise.all(
      [one, two].map(async (side, index) => {
        const scene = await Scene.set(side, [{ id: 'person', tools: ['execute'] }]);
        const { body } = await scene.admin.get('/v1/settings');
        await scene.admin.put('/v1/settings', { ...body, roleProfiles: { forge: scene.profileId } });
        const hookAudience = 'https://nexus.example.com/experimental/hooks/chat';
        await world.operator.post('/api/v1/tenants', {
          id: side.tenant,
          nexusUrl: side.nexus.url,
          hookAudience,
        });
        const { body: key } = await world.operator.post(`/api/v1/tenants/${side.tenant}/hook-keys`);
        await scene.admin.put(`/v1/hook-keys/${key.generation}`, { secret: key.secret });
        const workspace = randomUUID();
        await world.operator.put(`/api/v1/tenants/${side.tenant}/workspaces/${workspace}`, {
          role: 'forge',
          ticket: 'T-1',
        });
        const tool_input = { command: `secret-of-${index}` };
        const data = { tool_use_id: 'call_1', tool_name: 'execute', tool_input };
        const answer = await send(workspace, { meta: { chat_id }, data });
        expect(JSON.parse(answer.text).permission.reason).toMatch(/Not decided yet/);
        const { body: waits } = await scene.approver.get('/v1/waits');
        return { scene, key, waits: waits.items, text: answer.text };
      }),
    );
    sides.forEach(({ waits }, index) => {
      expect(waits.map(({ value }: { value: object }) => value)).toEqual([{ command: `secret-of-${index}` }]);
    });
    expect(sides[0]!.text).not.toBe(sides[1]!.text);
    // The key of one opens nothing of the other, whatever tenant the token claims.
    const stolen = sides[0]!.key.secret;
    for (const kid of [`${two.tenant}.1`, `${one.tenant}.1`]) {
      const now = Math.floor(Date.now() / 1_000);
      const { authorization = '', bytes } = await signed({
        secret: stolen,
        header: { alg: 'HS256', typ: 'JWT', kid },
        claims: {
          aud: 'https://nexus.example.com/experimental/hooks/chat',
          iat: now,
          nbf: now - 30,
          exp: now + 30,
          role: 'forge',
          deadline: Date.now() + 500,
        },
      });
      const answer = await fetch(`${two.nexus.url}/experimental/hooks/chat`, {
        method: 'POST',
        headers: { authorization },
        body: bytes,
      });
      expect(answer.status).toBe(401);
    }
  } finally {
    await one.stop();
    await two.stop();
  }
});

test('256 tool events at once, before a hook that defers: each gets a legal answer, and each is decided', async () => {
  const deliveries = new Set<unknown>();
  const hook = await nexusThat((request, response) => {
    deliveries.add(request.headers['webhook-id']);
    response.end('{"decision":"defer"}');
  });
  const { workspace, scene } = await realTenant([
    { id: 'slow', url: hook.replace('127.0.0.1', 'localhost') },
  ]);
  const meta = { chat_id: randomUUID(), owner_id: randomUUID() };
  const answers = await Promise.all(
    Array.from({ length: 256 }, (_, n) =>
      send(workspace, {
        meta,
        data: { tool_use_id: `call_${n}`, tool_name: 'execute', tool_input: { n } },
      }),
    ),
  );
  for (const { status, text, signature } of answers) {
    expect(status).toBe(200);
    expect(signature).not.toBeNull();
    const { permission } = JSON.parse(text);
    if (permission !== undefined) expect(permission.decision).toBe('deny');
  }
  // Whatever was not decided in time is decided afterwards: the same tool use then gets the decision.
  const pending = answers.flatMap(({ text }, n) => (text === '{}' ? [] : [n]));
  for (const n of pending) {
    for (let text = ''; text !== '{}';) {
      const data = { tool_use_id: `call_${n}`, tool_name: 'execute', tool_input: { n } };
      text = (await send(workspace, { meta, data })).text;
    }
  }
  // A delivery may be repeated under its id.
  expect(deliveries.size).toBe(256);
  expect((await scene.approver.get('/v1/waits')).body.items).toEqual([]);
}, 120_000);
