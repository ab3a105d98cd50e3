import { STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { HttpProblem, PROBLEM_MEDIA_TYPE } from './problem';
import type { ProblemCode } from './problem-types';

const CODES: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
};

/** A listener for `clientError`: answers bytes that Node could not read as a request. */
export function connectionErrors(server: Server): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request, response) => latest.set(request.socket, response));
  return (error, socket) => {
    const response = latest.get(socket);
    // A second head in the middle of an answer would be read as part of it.
    const midAnswer = response !== undefined && response.headersSent && !response.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || midAnswer) socket.destroy();
    else socket.end(rawProblem(new HttpProblem(CODES[error.code ?? ''] ?? 'malformed-request')));
  };
}

/** There is no request to answer through, so the answer is written by hand. */
function rawProblem(problem: HttpProblem): string {
  const document = JSON.stringify(problem.toDocument(undefined));
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(document)}`,
    'Cache-Control: no-store',
    'Connection: close',
    '',
    document,
  ].join('\r\n');
}
