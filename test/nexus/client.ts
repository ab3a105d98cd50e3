export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

interface Options {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A view as a test reads it: what it holds is checked by the assertions. */
type Loose = Readonly<Record<string, never>>;

/** Speaks to a server with one key. `Body` says what the test expects to find. */
export interface Client {
  readonly keyId: string;
  readonly authorization: Readonly<Record<string, string>>;
  readonly url: string;
  get<Body = Loose>(path: string, headers?: Options['headers']): Promise<Answer<Body>>;
  post<Body = Loose>(path: string, body?: unknown, headers?: Options['headers']): Promise<Answer<Body>>;
  put<Body = Loose>(path: string, body: unknown): Promise<Answer<Body>>;
  patch<Body = Loose>(path: string, body: unknown, headers?: Options['headers']): Promise<Answer<Body>>;
  delete<Body = Loose>(path: string, headers?: Options['headers']): Promise<Answer<Body>>;
}

export function clientOf(url: string, token: string | undefined, keyId = ''): Client {
  const authorization: Record<string, string> =
    token === undefined ? {} : { Authorization: `Bearer ${token}` };
  async function send<Body>(
    method: string,
    path: string,
    { body, headers }: Options = {},
  ): Promise<Answer<Body>> {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...authorization,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('Content-Type')?.includes('json') === true;
    const isLines = response.headers.get('Content-Type') === 'application/x-ndjson';
    const value: unknown = isJson && !isLines && text !== '' ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, body: value as Body };
  }
  return {
    keyId,
    url,
    authorization,
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, body, headers = {}) => send('POST', path, { body, headers }),
    put: (path, body) => send('PUT', path, { body }),
    patch: (path, body, headers = {}) => send('PATCH', path, { body, headers }),
    delete: (path, headers = {}) => send('DELETE', path, { headers }),
  };
}
