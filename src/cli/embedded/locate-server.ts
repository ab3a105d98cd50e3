import type { Progress } from './progress';
import { executablesOnPath } from './search-path';
import type { SemanticVersion } from './semantic-version';
import { StartError, throwIfInterrupted, type StartErrorCode } from './start-error';

export type ServerProduct = 'temporal' | 'valkey' | 'redis';

export interface LocatedServer {
  readonly product: ServerProduct;
  readonly path: string;
  /** Of the server, not of the command line around it. */
  readonly version: SemanticVersion;
}

export interface Refusal {
  readonly code: StartErrorCode;
  /** Continues "<path> is …". */
  readonly reason: string;
}

export interface ServerSearch {
  /** As a sentence would call it, e.g. "Temporal server". */
  readonly title: string;
  /** A path the person has set; nothing else is tried then. */
  readonly explicit: { readonly path: string; readonly setting: string } | undefined;
  readonly commands: readonly string[];
  /** Asks the executable what it is; `undefined` when it is something else or cannot run here. */
  inspect(path: string): Promise<LocatedServer | undefined>;
  refuse(server: LocatedServer): Refusal | undefined;
  /** Ways to obtain the server when PATH has none, in order; each returns the path of an executable. */
  readonly fallbacks: readonly (() => Promise<string>)[];
  /** What the person can do when nothing was found. */
  readonly advice: string;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

/** The set path, else PATH, else the fallbacks. What is found and not used is named, so that nobody wonders which server runs. */
export async function locateServer(search: ServerSearch): Promise<LocatedServer> {
  if (search.explicit) return explicitServer(search, search.explicit);
  return (await serverOnPath(search)) ?? (await serverOfFallbacks(search));
}

async function explicitServer(
  search: ServerSearch,
  { path, setting }: { path: string; setting: string },
): Promise<LocatedServer> {
  const server = await inspect(search, path);
  if (!server)
    throw new StartError(
      'bad_setting',
      `${setting}: ${path} is not a ${search.title} that runs here. Set another path, or leave it unset.`,
    );
  const refusal = search.refuse(server);
  if (refusal)
    throw new StartError(
      refusal.code,
      `${setting}: ${path} is ${refusal.reason}. Set the path of a newer one, or leave it unset.`,
    );
  return server;
}

/** An interrupted look tells nothing about what was looked at. */
async function inspect(search: ServerSearch, path: string): Promise<LocatedServer | undefined> {
  const server = await search.inspect(path);
  throwIfInterrupted(search.signal);
  return server;
}

async function serverOnPath(search: ServerSearch): Promise<LocatedServer | undefined> {
  for (const path of search.commands.flatMap((name) => executablesOnPath(name, search.env))) {
    const server = await inspect(search, path);
    const refusal = server && search.refuse(server);
    if (server && !refusal) return server;
    search.progress.line(
      `${path} is not used: it is ${refusal?.reason ?? `no ${search.title} that runs here`}.`,
    );
  }
  return undefined;
}

async function serverOfFallbacks(search: ServerSearch): Promise<LocatedServer> {
  let code: StartErrorCode | undefined;
  const failures: string[] = [];
  for (const fallback of search.fallbacks) {
    try {
      const path = await fallback();
      const server = await inspect(search, path);
      const refusal = server && search.refuse(server);
      if (server && !refusal) return server;
      code ??= refusal?.code;
      failures.push(`${path} is ${refusal?.reason ?? `no ${search.title} that runs here`}`);
    } catch (error) {
      throwIfInterrupted(search.signal);
      if (!(error instanceof StartError)) throw error;
      code ??= error.code;
      failures.push(error.message);
    }
  }
  throw new StartError(
    code ?? 'no_server',
    `No ${search.title} could be found or fetched.\n${failures.map((text) => `- ${text}`).join('\n')}\n${search.advice}`,
  );
}
