import { z } from 'zod';
import { duplicateMembers } from '../domain/json-scan';
import { escapePointerToken } from '../domain/json-value';
import { faultOf } from '../domain/schema-faults';
import { hostPatternFault } from './host-pattern';
import { parseSource, type SecretSource } from './secret-source';

/** The reserved name of a tenant's own signing secret, used where a hook names none. */
export const TENANT_SECRET = 'default';

/** Where a named secret comes from, and to which hosts it may go. */
export interface MappedSecret {
  readonly current: SecretSource;
  /** The source of the previous value while a rotation lasts. */
  readonly previous?: SecretSource;
  /** Host patterns (host-pattern.ts). Absent: any host. */
  readonly hosts?: readonly string[];
}

/** Tenant → name → secret. Maps, so that no name finds anything that the operator did not write. */
export type SecretMap = ReadonlyMap<string, ReadonlyMap<string, MappedSecret>>;

/** Lists every fault by its JSON pointer, one a line, and repeats no value of the file. */
export class SecretMapError extends Error {
  override readonly name = 'SecretMapError';
}

interface Fault {
  readonly path: readonly PropertyKey[];
  readonly detail: string;
}

const TENANT = /^[a-z0-9-]{1,40}$/;
const NAME = /^[A-Za-z0-9._-]{1,128}$/;

const source = z.string().transform((text, ctx): SecretSource => {
  const parsed = parseSource(text);
  if (parsed !== undefined) return parsed;
  ctx.addIssue({ code: 'custom', message: 'write env:NAME or file:/absolute/path' });
  return z.NEVER;
});

const mappedSecret = z
  .strictObject({
    from: z.array(source).min(1).max(2),
    hosts: z.array(faultOf(hostPatternFault)).min(1).max(64).optional(),
  })
  .transform(({ from: [current, previous], hosts }, ctx): MappedSecret => {
    if (current === undefined) return z.NEVER;
    if (JSON.stringify(current) === JSON.stringify(previous)) {
      ctx.addIssue({ code: 'custom', path: ['from', 1], message: 'this is the first source again' });
    }
    return { current, ...(previous && { previous }), ...(hosts && { hosts }) };
  });

const secretMap = z.record(z.string(), z.record(z.string(), mappedSecret));

/**
 * Reads the operator's file: `{ tenant: { name: { from: [current, previous?], hosts? } } }`.
 * @throws SecretMapError with all faults at once
 */
export function parseSecretMap(text: string): SecretMap {
  const json = parseJson(text);
  const read = secretMap.safeParse(json);
  const faults = [...nameFaults(json), ...(read.error?.issues.flatMap(issueFaults) ?? [])];
  if (!read.success || faults.length > 0) throw new SecretMapError(listOf(faults));
  return new Map(
    Object.entries(read.data).map(([tenant, secrets]) => [tenant, new Map(Object.entries(secrets))]),
  );
}

/** `JSON.parse` would quote the text in its message, and of two equal names keep the last. */
function parseJson(text: string): unknown {
  let duplicates: readonly string[];
  try {
    duplicates = duplicateMembers(text);
  } catch (fault) {
    throw new SecretMapError(
      `The map of secrets is not JSON: ${fault instanceof Error ? fault.message : ''}`,
    );
  }
  if (duplicates.length === 0) return JSON.parse(text);
  throw new SecretMapError(
    `The map of secrets is refused:\n${duplicates.map((pointer) => `${pointer}: the name is repeated`).join('\n')}`,
  );
}

/** Names are checked here and not by the schema, which would skip `__proto__` without a word. */
function nameFaults(json: unknown): Fault[] {
  return membersOf(json).flatMap(([tenant, secrets]) => [
    ...(TENANT.test(tenant) ? [] : [{ path: [tenant], detail: 'a tenant is 1-40 characters of a-z 0-9 -' }]),
    ...membersOf(secrets)
      .filter(([name]) => !NAME.test(name) || name === '__proto__')
      .map(([name]) => ({
        path: [tenant, name],
        detail: 'a name is 1-128 characters of A-Z a-z 0-9 . _ -, and not __proto__',
      })),
  ]);
}

function membersOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

function issueFaults(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      detail: 'unknown; members are from, hosts',
    }));
  }
  return [{ path: issue.path, detail: issue.message }];
}

function listOf(faults: readonly Fault[]): string {
  const lines = faults.map(({ path, detail }) => {
    const pointer = path.map((token) => `/${escapePointerToken(String(token))}`).join('');
    return `${pointer === '' ? 'the whole text' : pointer}: ${detail}`;
  });
  return `The map of secrets is refused:\n${lines.join('\n').toWellFormed()}`;
}
