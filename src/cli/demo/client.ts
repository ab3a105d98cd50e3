/** An answer of the API, its body not yet looked into. */
export interface Answer {
  readonly request: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Longer than the longest wait that the demo asks for. */
const TIMEOUT_MS = 90_000;

/** One person or program with a key. */
export class Client {
  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send('GET', path, headers);
  }

  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const json = { 'content-type': 'application/json' };
    return this.send('POST', path, { ...json, ...headers }, JSON.stringify(body));
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path, {});
  }

  private async send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: { ...headers, authorization: `Bearer ${this.token}` },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { status, headers: answered } = response;
    return { request: `${method} ${path}`, status, headers: answered, text: await response.text() };
  }
}
