/**
 * Whether a text from a path can be the id of something stored. Nothing else reaches the store: a `:` would name a
 * neighbouring Redis key.
 */
export function canBeId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(text);
}
