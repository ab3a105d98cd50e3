import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { DEFAULT_HOOKS, type DefaultHookSet } from '../../domain/default-hooks';
import type { TenantStores } from '../../store/tenant-stores';
import { listen, type Listening } from '../http/listen';
import { createCallGateway, type CallGateway } from '../temporal';
import { createNexusApp } from './nexus-app';
import type { Secrets } from '../../secrets/secrets';
import type { Toolbox } from '../../tools/toolbox';
import { createHookServer } from './coder/hook-server';
import { createMcpGateway } from './mcp/gateway';
import { createCloseThreadRoute } from './routes/close-thread';
import { createDeliveryRoute } from './routes/deliveries';
import { createResolveRoutes } from './routes/resolve';
import { createTextRoutes } from './routes/texts';
import { createTurnRoutes } from './routes/turns';
import { createToolCallRoutes } from './routes/tool-calls';
import { createToolResultRoute } from './routes/tool-results';
import { upgradeAllDefaults } from './upgrade-defaults';
import { AnswerSender } from './waits/answer-sender';
import { LateAnswers } from './waits/late-answer';
import { WaitResolver } from './waits/resolve-wait';

export interface NexusOptions {
  readonly stores: TenantStores;
  readonly client: Client;
  readonly taskQueue: string;
  /** The tools of profiles that the service runs. */
  readonly toolbox: Toolbox;
  /** Of Portcullis, which clients of other protocols are told. */
  readonly version: string;
  /** Where clients reach Nexus, when that is not where it listens. */
  readonly publicUrl?: string;
  /** The URL under which Manager relays Coder's events; absent: there is no hook server. */
  readonly hookAudience?: string;
  /** Named secrets, with which late answers of hooks may be signed. */
  readonly secrets: Secrets;
  /** Accepts hooks at `http://localhost`. */
  readonly development: boolean;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly log: Logger;
  /** Installed in new profiles and brought to those that follow it. Default: the set of this version. */
  readonly defaultHooks?: DefaultHookSet;
  /** Longest time that a caller is kept waiting for Temporal, in milliseconds; default 10,000. */
  readonly decisionTimeoutMs?: number;
  /** Given by fault tests. Default: the gateway as it is. */
  readonly wrapGateway?: (gateway: CallGateway) => CallGateway;
}

/** Brings the profiles of all tenants up to the current default hooks, then serves. */
export async function startNexus(options: NexusOptions): Promise<Listening> {
  const { stores, client, taskQueue, log, host, port } = options;
  const defaultHooks = options.defaultHooks ?? DEFAULT_HOOKS;
  for (const store of stores.all()) await upgradeAllDefaults(store, defaultHooks, log);

  const direct = createCallGateway({
    client,
    taskQueue,
    ...(options.decisionTimeoutMs !== undefined && { timeoutMs: options.decisionTimeoutMs }),
  });
  const gateway = options.wrapGateway?.(direct) ?? direct;
  const sender = new AnswerSender(gateway);
  const app = createNexusApp({
    stores,
    defaultHooks,
    development: options.development,
    logger: log,
    extraRoutes: [
      ...createToolCallRoutes({ gateway, toolbox: options.toolbox }),
      ...createTextRoutes(gateway),
      ...createTurnRoutes(gateway),
      createToolResultRoute(gateway),
      createCloseThreadRoute(gateway),
      ...createResolveRoutes(new WaitResolver(sender)),
      createDeliveryRoute(new LateAnswers(sender, stores, options.secrets)),
    ],
    mounts: [
      createMcpGateway({
        making: { gateway, toolbox: options.toolbox },
        version: options.version,
        ...(options.publicUrl !== undefined && { publicUrl: options.publicUrl }),
      }),
      ...(options.hookAudience === undefined
        ? []
        : [
            createHookServer({
              stores,
              making: { gateway, toolbox: options.toolbox },
              audience: options.hookAudience,
              ...(options.publicUrl !== undefined && { publicUrl: options.publicUrl }),
            }),
          ]),
    ],
    checks: [
      { name: 'temporal', check: () => gateway.ping() },
      {
        name: 'store',
        check: async () => {
          await Promise.all(stores.all().map((store) => store.ping()));
        },
      },
    ],
  });
  return listen(app, { host, port });
}
