import type { Answer, Api } from './api';
import type { Stack } from './stack';

/** A client hook in short; with `url` a hook that is asked by HTTP. */
export interface SceneHook {
  readonly id: string;
  readonly point?: 'before_input' | 'before_tool_call' | 'after_tool_call' | 'after_output';
  readonly where?: readonly object[];
  readonly tools?: readonly string[];
  readonly onFailure?: 'fail_closed' | 'fail_open';
  readonly mode?: 'enforce' | 'observe';
  readonly asyncTimeoutMs?: number;
  readonly approvers?: readonly string[];
  readonly minApprovals?: number;
  readonly allowSelfApproval?: boolean;
  readonly url?: string;
  /** An agent hook: its reviewing profile. */
  readonly reviewer?: string;
  readonly secret?: string;
  readonly headers?: object;
  readonly timeoutMs?: number;
  readonly retries?: number;
}

export interface StoredEventView {
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly data: any;
}

/** An agent with a thread, and people who may answer, in one stack. */
export class Scene {
  private constructor(
    readonly stack: Stack,
    readonly admin: Api,
    readonly agent: Api,
    readonly approver: Api,
    readonly profileId: string,
    readonly threadId: string,
  ) {}

  /** `hooks` absent: a profile with the default hooks. */
  static async set(
    stack: Stack,
    hooks?: readonly SceneHook[],
    timeouts?: object,
    more: object = {},
  ): Promise<Scene> {
    const admin = await stack.as('root', ['admin']);
    const agent = await stack.as('agent', ['calls']);
    const approver = await stack.as('ann', ['waits:resolve', 'read']);
    const configuration = {
      ...(hooks && { hooks: hooks.map(hookOf) }),
      ...(timeouts && { timeouts }),
      ...more,
    };
    const profile = await admin.post('/v1/profiles', { name: 'scene', configuration });
    if (profile.status !== 201) throw new Error(JSON.stringify(profile.body));
    const thread = await agent.post('/v1/threads', { profileId: profile.body.id });
    return new Scene(stack, admin, agent, approver, profile.body.id, thread.body.id);
  }

  /** The same agent and people in a new thread. */
  async newThread(): Promise<Scene> {
    const thread = await this.agent.post('/v1/threads', { profileId: this.profileId });
    return new Scene(this.stack, this.admin, this.agent, this.approver, this.profileId, thread.body.id);
  }

  call(
    tool: string,
    input: unknown,
    headers: Record<string, string> = {},
    more: object = {},
  ): Promise<Answer> {
    return this.agent.post(`/v1/threads/${this.threadId}/tool-calls`, { tool, input, ...more }, headers);
  }

  turn(text: string, headers: Record<string, string> = {}, more: object = {}): Promise<Answer> {
    return this.agent.post(`/v1/threads/${this.threadId}/turns`, { text, ...more }, headers);
  }

  readTurn(turnId: string, seconds = 0, by = this.agent): Promise<Answer> {
    const headers: Record<string, string> = seconds === 0 ? {} : { prefer: `wait=${seconds}` };
    return by.get(`/v1/threads/${this.threadId}/turns/${turnId}`, headers);
  }

  /** A text at one of the text points. */
  text(
    collection: 'inputs' | 'outputs',
    text: unknown,
    headers: Record<string, string> = {},
    more: object = {},
  ): Promise<Answer> {
    return this.agent.post(`/v1/threads/${this.threadId}/${collection}`, { text, ...more }, headers);
  }

  readText(collection: 'inputs' | 'outputs', textId: string, seconds = 0, by = this.agent): Promise<Answer> {
    const headers: Record<string, string> = seconds === 0 ? {} : { prefer: `wait=${seconds}` };
    return by.get(`/v1/threads/${this.threadId}/${collection}/${textId}`, headers);
  }

  read(callId: string, seconds = 0): Promise<Answer> {
    const headers: Record<string, string> = seconds === 0 ? {} : { prefer: `wait=${seconds}` };
    return this.agent.get(`/v1/threads/${this.threadId}/tool-calls/${callId}`, headers);
  }

  output(callId: string, body: object = { output: { ok: true } }): Promise<Answer> {
    return this.agent.post(`/v1/threads/${this.threadId}/tool-calls/${callId}/output`, body);
  }

  resolve(waitId: string, body: object, by: Api = this.approver, headers = {}): Promise<Answer> {
    return by.post(`/v1/threads/${this.threadId}/waits/${waitId}/resolve`, body, headers);
  }

  async events(): Promise<StoredEventView[]> {
    const answer = await this.approver.get(`/v1/threads/${this.threadId}/events?limit=200`);
    return answer.body.items;
  }

  async eventsOf(callId: string, type?: string): Promise<StoredEventView[]> {
    const events = await this.events();
    return events.filter(
      ({ data, ...event }) => data.callId === callId && (type === undefined || event.type === type),
    );
  }

  thread(by: Api = this.approver): Promise<Answer> {
    return by.get(`/v1/threads/${this.threadId}`);
  }
}

/** A hook as the API takes it. */
export function hookOf(hook: SceneHook): object {
  const { id, point = 'before_tool_call', tools, where, onFailure, mode, reviewer, ...processor } = hook;
  return {
    id,
    point,
    ...((tools ?? where) && { match: { ...(tools && { tools }), ...(where && { where }) } }),
    processor:
      reviewer === undefined
        ? { type: processor.url === undefined ? 'client' : 'url', ...processor }
        : { type: 'agent', profileId: reviewer, ...processor },
    ...(onFailure && { onFailure }),
    ...(mode && { mode }),
  };
}
