import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const readyShape = z.object({
  nexus: z.url(),
  temporalNamespace: z.string(),
  temporalUi: z.string().optional(),
});
const keysShape = z.object({ agent: z.string(), approver: z.string(), admin: z.string() });

const PROBE_TIMEOUT_MS = 5_000;

/** A running Portcullis and the keys of its first three owners. */
export interface DemoSystem {
  readonly nexus: string;
  readonly temporalNamespace: string;
  readonly temporalUi?: string | undefined;
  readonly keys: z.output<typeof keysShape>;
}

/** What runs on this data folder, if something does: a folder may hold the `ready.json` of a run that was killed. */
export async function findSystem(dataDir: string): Promise<DemoSystem | undefined> {
  const ready = readyShape.safeParse(readJson(join(dataDir, 'ready.json')));
  const keys = keysShape.safeParse(readJson(join(dataDir, 'keys.json')));
  if (!ready.success || !keys.success || !(await answers(ready.data.nexus))) return undefined;
  return { ...ready.data, keys: keys.data };
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

async function answers(nexus: string): Promise<boolean> {
  try {
    return (await fetch(`${nexus}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })).ok;
  } catch {
    return false;
  }
}
