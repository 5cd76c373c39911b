import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

/** What the parts log with. Never pass prompt text, credentials or whole headers. */
export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error'>;

/** Where lines go. Each text that is written ends with its line's end. */
export type LogDestination = DestinationStream;

/** Member names whose values are never written, at any of the depths that our own log calls use. */
const redactedNames = ['authorization', 'apiKey', 'apiKeys', 'secret', 'token', 'key', 'password', 'x-api-key', 'x-goog-api-key'];

/** Lines wait until there are so many bytes of them, */
const bufferedBytes = 4096;
/** or so long. A process that is killed with SIGKILL takes no more than that with it; any other end writes them first. */
const bufferedMs = 200;
/** When nobody takes the lines, so many bytes are kept, and what comes then is lost: a log that stands still must not stop the calls. */
const waitingBytesMax = 16 * 1024 * 1024;

/**
 * Standard error. At a terminal each line appears at once; otherwise lines are written together and without waiting, so that whoever reads them
 * slowly slows nothing down.
 */
export function createLogDestination(options: { readonly isTerminal: boolean }): LogDestination {
  if (options.isTerminal) return pino.destination(2);
  return pino.destination({ dest: 2, sync: false, minLength: bufferedBytes, periodicFlush: bufferedMs, maxLength: waitingBytesMax });
}

/** A structured logger: one JSON line per entry. */
export function createLogger(options: { readonly level: string; readonly destination: LogDestination }): Logger {
  const settings = {
    level: options.level,
    redact: { paths: redactedNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: '[redacted]' },
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return pino(settings, options.destination);
}

/** A logger that writes nothing, for tests and for commands that print their own answers. */
export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
