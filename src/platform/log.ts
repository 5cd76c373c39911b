import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

/** The logger of every part. Never pass prompt text, credentials or whole headers. */
export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error'>;

/** Receives the lines. Each text that is written ends with a line break. */
export type LogDestination = DestinationStream;

/** Member names whose values are never written, at any of the depths that our own log calls use. */
const redactedNames = [
  'authorization',
  'apiKey',
  'apiKeys',
  'secret',
  'token',
  'key',
  'password',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
];

/** Lines are buffered up to this size, */
const bufferedBytes = 4096;
/** or for this time. SIGKILL loses no more than that; any other exit flushes the buffer first. */
const bufferedMs = 200;
/**
 * If the reader stalls, this many bytes are kept, and later lines are lost: a blocked log must not stop calls.
 */
const waitingBytesMax = 16 * 1024 * 1024;

/**
 * Standard error. At a terminal each line appears at once. Otherwise lines are written in batches without blocking, so
 * that a slow reader does not slow down the process.
 */
export function createLogDestination(options: { readonly isTerminal: boolean }): LogDestination {
  if (options.isTerminal) return pino.destination(2);
  const destination = pino.destination({ dest: 2, sync: false, minLength: bufferedBytes, maxLength: waitingBytesMax });
  flushAfterWrites(destination);
  return destination;
}

/** The destination's own periodic flush also writes when there is nothing to write, which wakes an idle process. */
function flushAfterWrites(destination: ReturnType<typeof pino.destination>): void {
  const write = destination.write.bind(destination);
  let timer: NodeJS.Timeout | undefined;
  /** Whether lines have come since the last one reached the reader: a flush does nothing while it waits for that. */
  let hasLines = false;
  const flush = (): void => {
    timer = undefined;
    destination.flush();
  };
  const flushSoon = (): void => {
    timer ??= setTimeout(flush, bufferedMs).unref();
  };
  destination.write = (text) => {
    hasLines = true;
    flushSoon();
    return write(text);
  };
  destination.on('drain', () => {
    if (hasLines) flushSoon();
    hasLines = false;
  });
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
