import { pino, type Logger } from 'pino';

/** JSON lines on stdout. Secrets never reach it: what could hold one is not logged, and this list is the second line. */
export function createLogger(service: 'nexus' | 'worker' | 'manager', level: string): Logger {
  return pino({
    level,
    base: { service },
    redact: {
      paths: [
        '*.authorization',
        '*.Authorization',
        'redisUrl',
        '*.redisUrl',
        '*.token',
        '*.secret',
        '*.password',
      ],
      censor: '[redacted]',
    },
  });
}
