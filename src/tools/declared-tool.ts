import { findUnfaithful, type JsonValue } from '../domain/json-value';
import type { DeclaredTool } from '../domain/runnable-tool';
import { partsOf } from '../domain/schema-faults';
import { schemaFault } from '../domain/tool-parts';
import { toolNameFault } from '../domain/tool-pattern';

/** Longest words of a server about a tool, in UTF-16 code units; more is cut. */
const MAX_DESCRIPTION = 16_384;

/** A tool as a server declares it (MCP 2025-11-25, "Tool"); nothing when it has no usable name or schema. */
export function declaredTool(entry: unknown): DeclaredTool | undefined {
  const { name, title, description, inputSchema, outputSchema, annotations } = partsOf(entry);
  if (typeof name !== 'string' || !name.isWellFormed() || toolNameFault(name) !== undefined) return undefined;
  if (!isUsableSchema(inputSchema)) return undefined;
  return {
    name,
    ...(typeof title === 'string' && { title: wellFormed(title) }),
    ...(typeof description === 'string' && { description: wellFormed(description) }),
    inputSchema,
    ...(isUsableSchema(outputSchema) && { outputSchema }),
    ...(isObject(annotations) && findUnfaithful(annotations) === undefined && { annotations }),
  };
}

function isUsableSchema(schema: unknown): schema is JsonValue {
  return isObject(schema) && schemaFault(schema) === undefined;
}

function isObject(value: unknown): value is JsonValue {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wellFormed(text: string): string {
  return text.slice(0, MAX_DESCRIPTION).toWellFormed();
}
