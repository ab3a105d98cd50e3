import { z } from 'zod';
import { duplicateMembers } from '../domain/json-scan';
import { secretNameSchema } from '../domain/processor-schema';

/** A program that speaks MCP over its standard input and output, as the operator declared it. */
export interface OperatorServer {
  readonly command: string;
  readonly args: readonly string[];
  /** All of its environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string | { readonly secret: string }>>;
  readonly cwd?: string;
}

/** Tenant → name → program. Maps, so that no name finds anything that the operator did not write. */
export type OperatorServers = ReadonlyMap<string, ReadonlyMap<string, OperatorServer>>;

export class OperatorServersError extends Error {
  override readonly name = 'OperatorServersError';
}

const value = z.union([z.string(), z.strictObject({ secret: secretNameSchema })]);

const server = z
  .strictObject({
    command: z.string().min(1),
    args: z.array(z.string()).max(256).default([]),
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), value).default({}),
    cwd: z.string().regex(/^\//, 'write an absolute path').optional(),
  })
  .transform(({ cwd, ...rest }): OperatorServer => ({ ...rest, ...(cwd !== undefined && { cwd }) }));

const file = z.record(
  z.string().regex(/^[a-z0-9-]{1,40}$/, 'a tenant is 1-40 characters of a-z 0-9 -'),
  z.record(
    z.string().regex(/^[A-Za-z0-9._-]{1,128}$/, 'a name is 1-128 characters of A-Z a-z 0-9 . _ -'),
    server,
  ),
);

/**
 * Reads the operator's file: `{ tenant: { name: { command, args?, env?, cwd? } } }`. A value of `env` is text, or
 * `{ "secret": "<name>" }` for a secret that the operator mapped.
 * @throws OperatorServersError with all faults at once; it repeats no value of the file
 */
export function parseOperatorServers(text: string): OperatorServers {
  const read = file.safeParse(parseJson(text));
  if (!read.success) {
    const lines = read.error.issues.map(({ path, message }) => `/${path.map(String).join('/')}: ${message}`);
    throw new OperatorServersError(lines.join('\n').toWellFormed());
  }
  return new Map(
    Object.entries(read.data).map(([tenant, servers]) => [tenant, new Map(Object.entries(servers))]),
  );
}

/** `JSON.parse` would quote the text in its message, and of two equal names keep the last. */
function parseJson(text: string): unknown {
  let repeated: readonly string[];
  try {
    repeated = duplicateMembers(text);
  } catch (fault) {
    throw new OperatorServersError(`it is not JSON: ${fault instanceof Error ? fault.message : ''}`);
  }
  if (repeated.length === 0) return JSON.parse(text);
  throw new OperatorServersError(repeated.map((pointer) => `${pointer}: the name is repeated`).join('\n'));
}
