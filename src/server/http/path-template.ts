/** Names between braces: `'/v1/threads/{threadId}'` gives `'threadId'`. */
export type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;

const NAME = /\{([^{}]*)\}/g;

export function pathNames(template: string): string[] {
  return [...template.matchAll(NAME)].map((match) => match[1] ?? '');
}

/** The same path in Express' notation. */
export function expressPath(template: string): string {
  return template.replaceAll(NAME, ':$1');
}

/** Literal segments go before parameters, so that `/v1/waits/resolve` is never read as `/v1/waits/{id}`. */
export function compareTemplates(a: string, b: string): number {
  const keyOf = (template: string): string => template.replaceAll(NAME, '\u{10ffff}');
  return keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0;
}
