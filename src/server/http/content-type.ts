import type { IncomingMessage } from 'node:http';
import { HttpProblem } from './problem';

const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?$/i;

/** Judged from the headers alone, before a byte of the body is read. @throws HttpProblem unsupported-media-type */
export function requireIdentityEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw new HttpProblem('unsupported-media-type', {
      detail: 'compressed bodies are not read; send no Content-Encoding',
      headers: { 'Accept-Encoding': 'identity' },
    });
  }
}

/** @throws HttpProblem unsupported-media-type */
export function requireJsonMediaType(request: IncomingMessage): void {
  if (!JSON_MEDIA_TYPE.test(request.headers['content-type']?.trim() ?? '')) {
    throw new HttpProblem('unsupported-media-type', {
      detail: 'Content-Type must be application/json, in UTF-8',
      headers: { Accept: 'application/json' },
    });
  }
}
