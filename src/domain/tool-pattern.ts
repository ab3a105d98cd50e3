/** Longest tool name, in Unicode code points. */
export const MAX_TOOL_NAME = 256;

/**
 * Says what is wrong with a tool name, or nothing. Names are compared byte for byte: no trimming, no case folding,
 * no Unicode normalisation, so that the gate and the executor can never mean different tools.
 */
export function toolNameFault(name: string): string | undefined {
  if (name === '') return 'a tool name must not be empty';
  if (Array.from(name).length > MAX_TOOL_NAME) return `a tool name has at most ${MAX_TOOL_NAME} characters`;
  if (/\p{Cc}/u.test(name)) return 'a tool name must not hold control characters';
  if (name.trim() !== name) return 'a tool name must not begin or end with white space';
  return undefined;
}

/** Says what is wrong with a pattern of `match.tools`: an exact name, or a prefix followed by one `*`. */
export function toolPatternFault(pattern: string): string | undefined {
  const star = pattern.indexOf('*');
  if (star !== -1 && star !== pattern.length - 1) {
    return '`*` is a wildcard only as the last character; write an exact name or a prefix and one `*`';
  }
  return pattern === '*' ? undefined : toolNameFault(pattern);
}

/** `billing.*` matches every name that begins with `billing.`; a pattern without `*` matches that name only. */
export function toolMatches(pattern: string, tool: string): boolean {
  return pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern;
}
