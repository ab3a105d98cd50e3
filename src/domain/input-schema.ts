import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import { RE2JS } from 're2js';
import type { JsonValue } from './json-value';

/** Patterns of schemas run in linear time, whatever is matched: profile authors write them, agents choose the text. */
const linearRegExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    return { test: (text: string): boolean => compiled.matcher(text).find() };
  },
  { code: 're2js' },
);

/** Unknown keywords and formats are notes to people, as JSON Schema has it; nothing is fetched. */
function newAjv(): Ajv2020 {
  return new Ajv2020({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    allErrors: false,
    code: { regExp: linearRegExp },
  });
}

/** Compiled schemas by their text, because the same few are used by every call of a profile. */
const compiled = new Map<string, ValidateFunction>();
const MAX_COMPILED = 500;

/** Says what is wrong with a JSON Schema (2020-12), or nothing. */
export function inputSchemaFault(schema: JsonValue): string | undefined {
  try {
    compile(schema);
    return undefined;
  } catch (error) {
    return `not a JSON Schema that can be used: ${error instanceof Error ? error.message : 'it does not compile'}`;
  }
}

/** Says where a value does not satisfy a schema, by pointer and keyword and never by content, or nothing. */
export function inputFault(
  schema: JsonValue,
  value: JsonValue,
): { pointer: string; detail: string } | undefined {
  const validate = compile(schema);
  if (validate(value)) return undefined;
  const [first] = validate.errors ?? [];
  return {
    pointer: first?.instancePath ?? '',
    detail: `does not satisfy the tool's schema (${first?.keyword ?? 'schema'})`,
  };
}

function compile(schema: JsonValue): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known !== undefined) return known;
  // A new one each time: schemas with the same $id must not meet.
  const validate = newAjv().compile(schema as Parameters<Ajv2020['compile']>[0]);
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  compiled.set(text, validate);
  return validate;
}
