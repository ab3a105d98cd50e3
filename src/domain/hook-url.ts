const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** Whether this is an address of the own machine, which development mode accepts without TLS. */
export function isLocalUrl(url: URL): boolean {
  return LOOPBACK_NAMES.includes(url.hostname);
}

/**
 * Says what is wrong with an address that a profile names, as far as that can be seen without knowing the operator's
 * settings. What an address leads to is checked at every connection.
 */
export function hookUrlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'write an absolute URL, such as https://hooks.example.com/portcullis';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocalUrl(url))) {
    return 'the URL must be https; http is for localhost in development mode';
  }
  if (url.username !== '' || url.password !== '')
    return 'the URL must not hold credentials; name a secret in a header';
  if (text.includes('#')) return 'the URL must not have a fragment';
  return undefined;
}

/** Header names are tokens (RFC 9110 §5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** Set by the sender for every delivery, or by the HTTP connection. */
const OWN_HEADERS =
  /^(webhook-.*|content-.*|accept-encoding|host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect)$/i;

export function headerNameFault(name: string): string | undefined {
  if (!TOKEN.test(name)) return 'not a header name';
  return OWN_HEADERS.test(name) ? 'this header is set by Portcullis' : undefined;
}

/** Visible characters, spaces and tabs: nothing that could end the header. */
export function headerValueFault(value: string): string | undefined {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value) ? undefined : 'a header value has no control characters';
}
