import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

/** What the parts log with. Never pass prompt text, credentials or whole headers. */
export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error'>;

/** Member names whose values are never written, at any of the depths that our own log calls use. */
const redactedNames = ['authorization', 'apiKey', 'secret', 'token', 'key', 'password', 'x-api-key', 'x-goog-api-key'];

/** A structured logger: one JSON line per entry. */
export function createLogger(options: { readonly level: string; readonly destination?: DestinationStream }): Logger {
  const settings = {
    level: options.level,
    redact: { paths: redactedNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: '[redacted]' },
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return options.destination === undefined ? pino(settings, pino.destination(2)) : pino(settings, options.destination);
}

/** A logger that writes nothing, for tests and for commands that print their own answers. */
export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
