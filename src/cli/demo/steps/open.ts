import type { Cast } from '../cast';
import { expectAnswer, expectEqual } from '../expectation';
import { callShape, createdShape, profileShape } from '../shapes';
import type { Story } from '../story';
import { callsOf } from './payment';

export function makeProfile(story: Story, { admin }: Cast): Promise<string> {
  return story.step('The administrator makes a profile and leaves its hooks to the defaults.', async () => {
    const answer = await admin.post('/v1/profiles', { name: 'demo agent' });
    const { id, version, configuration } = expectAnswer(answer, 201, profileShape);
    const hooks = configuration.hooks.map((hook) => hook.id);
    expectEqual('the number of default hooks', hooks.length, 6);
    story.say(`Profile ${id}, version ${version}, asks a person before these kinds of tools:`);
    story.say(hooks.join(', '));
    return id;
  });
}

export function makeThread(story: Story, { agent }: Cast, profileId: string): Promise<string> {
  return story.step('The agent opens a thread on it.', async () => {
    const answer = await agent.post('/v1/threads', { profileId, metadata: { made: 'by the demo' } });
    const { id } = expectAnswer(answer, 201, createdShape);
    story.say(`Thread ${id}`);
    return id;
  });
}

export function callHarmlessTool(story: Story, { agent }: Cast, threadId: string): Promise<void> {
  return story.step('It asks to run weather.read, which no hook is about: allowed at once.', async () => {
    const answer = await agent.post(callsOf(threadId), { tool: 'weather.read', input: { city: 'Oslo' } });
    const call = expectAnswer(answer, 200, callShape);
    expectEqual('the status', call.status, 'allowed');
    story.say('200, status allowed');
  });
}
