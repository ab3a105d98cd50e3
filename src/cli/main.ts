import { join } from 'node:path';
import { Command } from 'commander';
import { SEARCH_ATTRIBUTES } from '../workflows/search-attributes';
import { createKey, type CreateKey } from './create-key';
import { runDemo } from './demo/run-demo';
import { resolveSettings } from './embedded/embedded-settings';
import { SETTINGS, type SettingOptions } from './embedded/setting-table';
import { StartError } from './embedded/start-error';
import { ensureFirstKeys } from './first-keys';
import { ensureFirstManager } from './first-manager';
import { ensureFirstSecrets } from './first-secrets';
import { simulate, type SimulateOptions } from './coder/simulate';
import { createOperatorKey, runManager } from './manager';
import { runMcpBridge, type BridgeOptions } from './mcp/bridge';
import { runNexus } from './nexus';
import { SettingsError } from './service/settings-error';
import { runUp } from './up/run-up';
import { runWorker } from './worker';

const SELF = join(__dirname, '..', '..', 'bin', 'portcullis.js');

const program = new Command('portcullis')
  .description('A durable gate between AI agents and their tools.')
  .showHelpAfterError();

const up = program
  .command('up', { isDefault: false })
  .description(
    'Run everything on this machine: Temporal, Valkey, Nexus and a worker. Ctrl-C stops all of it.',
  );
for (const setting of Object.values(SETTINGS)) {
  up.option(setting.option, `${setting.help} [${setting.env}]`);
}
up.action(async (options: SettingOptions) => {
  process.exitCode = await runUp({
    settings: resolveSettings(options, process.env),
    searchAttributes: SEARCH_ATTRIBUTES,
    prepare: async (context) => {
      ensureFirstSecrets(context);
      await ensureFirstKeys(context);
      return ensureFirstManager(context, process.env);
    },
    children: {
      nexus: { argv: [SELF, 'nexus'], announcesReady: true },
      worker: { argv: [SELF, 'worker'], announcesReady: true },
      manager: { argv: [SELF, 'manager'], announcesReady: true },
    },
    nextSteps: (nexus) => [
      'Next: `npm run demo` in another terminal plays an agent and an approver.',
      `The API is described at ${nexus}/openapi.json`,
      '',
    ],
  });
});

const demo = program
  .command('demo')
  .description('Play an agent and an approver, against what runs on the data folder or a system of its own.');
for (const setting of [SETTINGS.data, SETTINGS.services]) {
  demo.option(setting.option, `${setting.help} [${setting.env}]`);
}
demo.action(async (options: SettingOptions) => {
  process.exitCode = await runDemo({
    settings: resolveSettings(options, process.env),
    command: SELF,
    env: process.env,
  });
});

program
  .command('nexus')
  .description(
    'Serve the HTTP API (settings: PORTCULLIS_TENANTS, PORTCULLIS_HOST, PORTCULLIS_PORT, TEMPORAL_…).',
  )
  .action(() => runNexus(process.env));

program
  .command('worker')
  .description(
    'Run workflows and activities (settings: PORTCULLIS_TENANTS, PORTCULLIS_TASK_QUEUE, TEMPORAL_…).',
  )
  .action(() => runWorker(process.env));

program
  .command('manager')
  .description(
    'Take events of Coder and relay each to its tenant (settings: PORTCULLIS_MANAGER_REDIS, CODER_HOOK_AUDIENCE, CODER_HOOK_SECRET, …).',
  )
  .action(() => runManager(process.env));

program
  .command('create-operator-key')
  .description('Make a key for the API of Manager and print its token, which is told only once.')
  .requiredOption('--owner <owner>', 'whose key it is')
  .action(async ({ owner }: { owner: string }) => {
    console.log(await createOperatorKey(process.env, owner));
  });

program
  .command('coder')
  .description('Tools for the events of Coder.')
  .command('simulate')
  .description('Sign events as Coder does, post them, and print figures (setting: CODER_HOOK_SECRET).')
  .requiredOption('--file <path>', 'JSON lines, each { "type", "data"?, "meta"? }; - is standard input')
  .requiredOption('--url <url>', 'the ingress')
  .option('--audience <url>', 'what is signed as audience (default: the url)')
  .option('--workspace <id>', 'the workspace of events that name none')
  .option('--concurrency <n>', 'how many at a time (default: 1)')
  .option('--timeout <ms>', 'for one event (default: 1500)')
  .action(async (options: SimulateOptions) => {
    process.exitCode = await simulate(process.env, options);
  });

program
  .command('mcp')
  .description(
    "Serve a profile's tools over standard input and output, for MCP clients that know nothing else (settings: PORTCULLIS_KEY, PORTCULLIS_URL).",
  )
  .requiredOption('--profile <id>', 'the profile whose tools are offered')
  .option('--url <url>', 'where Nexus is [PORTCULLIS_URL] (default: http://127.0.0.1:7070)')
  .option('--thread <id>', 'the thread in which calls are made (default: a new one)')
  .option('--wait <seconds>', 'how long a call waits for its decision before it is pending (default: 50)')
  .action((options: BridgeOptions) => runMcpBridge(process.env, options));

program
  .command('create-key')
  .description('Make an API key and print its token, which is told only once (setting: PORTCULLIS_TENANTS).')
  .requiredOption('--tenant <tenant>', 'the tenant that the key belongs to')
  .requiredOption('--owner <owner>', 'whose key it is; two keys of one owner are one person')
  .requiredOption('--scopes <scopes>', 'separated by commas')
  .action(async (wanted: CreateKey) => {
    console.log(await createKey(process.env, wanted));
  });

program.parseAsync().catch((error: unknown) => {
  // What a person can mend is said in a sentence; anything else comes with its stack.
  if (error instanceof StartError || error instanceof SettingsError) console.error(error.message);
  else console.error(error);
  // Whatever is still connected must not keep a process alive that cannot work.
  process.exit(1);
});
