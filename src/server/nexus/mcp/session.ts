import { v7 } from 'uuid';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Profile } from '../../../domain/profile';
import { IDEMPOTENCY_META } from '../../../tools/mcp-connection';
import type { TimedCallMaking } from '../calls/pending-call';
import type { NexusPrincipal } from '../nexus-principal';
import { visibleProfile } from '../profile-access';
import { answering } from '../outage';
import { callTool } from './call-tool';
import { offeredTools } from './offered-tools';
import { Progress, type Notify } from './progress';

const INSTRUCTIONS =
  'Calls of these tools may have to be approved. A call that is not decided in time is answered as pending: nothing has run. ' +
  'Make exactly the same call again later to get the decision. Every result says whether the tool has run.';

export interface SessionGiven {
  readonly making: TimedCallMaking;
  readonly principal: NexusPrincipal;
  readonly profileId: string;
  readonly version: string;
  /** A thread that the client wants its calls in; absent: one of the session's own. */
  readonly threadId?: string;
  /** For a decision, in seconds. */
  readonly waitSeconds: number;
  /** Aborted when the server begins to close: calls are answered with what is known of them. */
  readonly closing: AbortSignal;
}

/**
 * The server's side of one MCP session (MCP 2025-11-25). It belongs to the key that opened it, and its calls to one
 * thread of the profile.
 */
/* eslint-disable @typescript-eslint/no-deprecated -- tools come and go with the profile and its servers, which the SDK's higher level has no place for */
export class McpSession {
  private readonly server: Server;
  private thread: Promise<string> | undefined;
  private ended = false;
  private readonly calls = new Set<Promise<unknown>>();
  usedAt = performance.now();
  /** Requests of the session that are being answered. */
  busy = 0;

  constructor(
    readonly transport: StreamableHTTPServerTransport,
    private readonly given: SessionGiven,
  ) {
    this.server = new Server(
      { name: 'portcullis', version: given.version },
      { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS },
    );
    this.server.setRequestHandler(ListToolsRequestSchema, () => this.listTools());
    this.server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
      const { progressToken } = params._meta ?? {};
      const notify =
        progressToken === undefined
          ? undefined
          : (told: Parameters<Notify>[0]) =>
              extra.sendNotification({
                method: 'notifications/progress',
                params: { progressToken, ...told },
              });
      const call = this.callTool(params, extra.signal, notify);
      this.calls.add(call);
      return call.finally(() => this.calls.delete(call));
    });
  }

  async open(): Promise<void> {
    // Its `sessionId` may be undefined where the interface has it absent.
    await this.server.connect(this.transport);
  }

  belongsTo({ tenant, key }: NexusPrincipal, profileId: string): boolean {
    const { principal } = this.given;
    return principal.tenant === tenant && principal.key.id === key.id && this.given.profileId === profileId;
  }

  toolsChanged(): void {
    this.server.sendToolListChanged().catch(() => undefined);
  }

  /** Its calls go on; what is undecided can be asked for again. */
  async end(): Promise<void> {
    this.ended = true;
    await Promise.allSettled(this.calls);
    // What they were answered is sent after they have ended.
    await new Promise((resolve) => setImmediate(resolve));
    await this.server.close().catch(() => undefined);
  }

  private profile(): Promise<Profile> {
    const { principal, profileId } = this.given;
    return answering(() => visibleProfile(principal, profileId));
  }

  private async listTools() {
    const { making, principal } = this.given;
    const profile = await this.profile();
    const { tools } = await making.toolbox.list(principal.tenant, profile.configuration);
    return { tools: offeredTools(profile, tools) };
  }

  private async callTool(
    params: { name: string; arguments?: unknown; _meta?: Readonly<Record<string, unknown>> | undefined },
    signal: AbortSignal,
    notify: Notify | undefined,
  ) {
    const { making, principal, waitSeconds } = this.given;
    const profile = await this.profile();
    // A repeat under the name that a client gives its call finds the call and runs nothing.
    const key = params._meta?.[IDEMPOTENCY_META];
    const progress = new Progress(notify);
    try {
      return await callTool(
        { making, principal, profile, threadId: () => (this.thread ??= this.openThread(profile.id)) },
        {
          name: params.name,
          input: params.arguments,
          ...(typeof key === 'string' && { idempotencyKey: key }),
          waitSeconds,
          onProgress: (message) => progress.say(message),
          onToolProgress: (told) => progress.toolSays(told),
          signal: AbortSignal.any([signal, this.given.closing]),
          isCancelled: () => signal.aborted && !this.ended,
        },
      );
    } finally {
      progress.stop();
    }
  }

  private async openThread(profileId: string): Promise<string> {
    if (this.given.threadId !== undefined) return this.given.threadId;
    const { store, key } = this.given.principal;
    const client = this.server.getClientVersion();
    const metadata =
      client === undefined ? {} : { mcpClient: { name: client.name, version: client.version } };
    const thread = { id: v7(), profileId, owner: key.owner, metadata, createdAt: new Date().toISOString() };
    try {
      if ((await store.threads.create(thread)) === 'no_profile') throw new Error('the profile was deleted');
      return thread.id;
    } catch (error) {
      this.thread = undefined;
      throw error;
    }
  }
}
