import { hookUrlFault } from './hook-url';
import type { JsonObject, JsonValue } from './json-value';

/**
 * URLs with parameters, such as `https://api.example.com/orders/{orderId}?view={view}`. A parameter names a member of the
 * tool's input. Whatever its value holds stays within its place: it is percent-encoded, and in the path it can be neither
 * empty nor a dot segment, which would make it another resource.
 */
const PARAMETER = /\{([A-Za-z0-9_.-]{1,64})\}/g;

/** Says what is wrong with a template, or nothing. */
export function urlTemplateFault(template: string): string | undefined {
  const filled = template.replaceAll(PARAMETER, 'x');
  if (/[{}]/.test(filled)) return 'a parameter is written {name}, with 1-64 characters of A-Z a-z 0-9 _ . -';
  const fault = hookUrlFault(filled);
  if (fault !== undefined) return fault;
  const authorityEnd = template.indexOf('/', template.indexOf('//') + 2);
  const authority = authorityEnd === -1 ? template : template.slice(0, authorityEnd);
  return /[{}]/.test(authority) ? 'parameters stand in the path or the query, not in the host' : undefined;
}

export function parametersOf(template: string): string[] {
  return [...template.matchAll(PARAMETER)].map(([, name = '']) => name);
}

export type Expansion =
  | { readonly ok: true; readonly url: string }
  /** Names the parameter and never its value. */
  | { readonly ok: false; readonly fault: string };

/** Fills a template that has no fault. */
export function expandUrl(template: string, input: JsonObject): Expansion {
  const query = template.indexOf('?');
  let fault: string | undefined;
  const url = template.replaceAll(PARAMETER, (_, name: string, place: number) => {
    const text = scalarText(Object.hasOwn(input, name) ? input[name] : undefined);
    if (text === undefined) fault ??= `the input has no text, number or truth value at ${name}`;
    else if (text === '' && (query === -1 || place < query)) fault ??= `the input's ${name} is empty`;
    return text === undefined ? '' : encode(text);
  });
  if (fault !== undefined) return { ok: false, fault };
  const path = url.split('?', 1)[0] ?? '';
  if (path.split('/').slice(3).some(isDotSegment)) {
    return { ok: false, fault: 'a value would make a dot segment of the path' };
  }
  return { ok: true, url };
}

/** What a value is in a path, a query or a header; nothing for what has no one text. */
export function scalarText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

/** Everything but unreserved characters (RFC 3986 §2.3). */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** As `URL` sees them (WHATWG URL, "single-dot" and "double-dot URL path segment"). */
function isDotSegment(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment);
}
