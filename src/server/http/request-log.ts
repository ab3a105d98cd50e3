import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { pinoHttp, type HttpLogger } from 'pino-http';
import { exchangeOf } from './exchange';

/**
 * One line per request: method, route template, status, duration, request id, and what the handler annotated.
 * No headers, no raw path, no bodies: a key or a value can stand in any of them.
 */
export function requestLog(logger: Logger): HttpLogger {
  const line = (
    request: IncomingMessage,
    response: ServerResponse,
    measured: { durationMs: number },
  ): object => {
    const { route, annotations } = exchangeOf(request);
    return {
      ...annotations,
      method: request.method,
      route,
      status: response.statusCode,
      durationMs: measured.durationMs,
      ...(response.writableFinished ? {} : { aborted: true }),
    };
  };
  return pinoHttp({
    logger,
    genReqId: (request) => exchangeOf(request).requestId,
    quietReqLogger: true,
    customAttributeKeys: { reqId: 'requestId', responseTime: 'durationMs' },
    serializers: { req: () => undefined, res: () => undefined },
    customLogLevel: (_request, response) => (response.statusCode >= 500 ? 'error' : 'info'),
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request',
    customSuccessObject: line,
    // The error itself has its own line, written where it was caught.
    customErrorObject: (request, response, _error, measured: { durationMs: number }) =>
      line(request, response, measured),
  });
}
