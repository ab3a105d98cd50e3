/**
 * Whether a token is meant for this address. The strings are compared as they are: `new URL` would take more for equal
 * than the sender does (hosts in other cases, default ports). Only a bare path `/` equals no path.
 */
export function sameAudience(claimed: string, configured: string): boolean {
  return withoutRootSlash(claimed) === withoutRootSlash(configured);
}

function withoutRootSlash(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+\/$/i.test(url) ? url.slice(0, -1) : url;
}
