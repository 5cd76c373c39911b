import { SteeringError } from '../steering.ts';

/**
 * The behaviour of a simulated video job and of its interface. Every member is optional: an empty script is a job that
 * succeeds.
 */
export type VideoScript = {
  /** From submission to the end, in milliseconds. */
  readonly ms?: number;
  /** The end of the job; `never` leaves it working. */
  readonly end?: 'done' | 'failed' | 'expired' | 'moderated' | 'never';
  /** The error of a failure. */
  readonly code?: string;
  readonly message?: string;
  /** The report after the end was reported `turnAfter` times (1): a vendor that changes its result. */
  readonly turn?: 'done' | 'failed';
  readonly turnAfter?: number;
  /** `back` falls at every other poll, `absent` is not reported, `text` is reported as "50%". */
  readonly progress?: 'rising' | 'back' | 'absent' | 'text';
  /** A status value in place of the true one while the job works; permanently if it never ends. */
  readonly word?: string;
  /** Replacements of poll answers: an HTTP status, or an invalid reply. */
  readonly poll?: number | 'empty' | 'html' | 'reset';
  /** Number of polls; all of them if absent. */
  readonly pollTimes?: number;
  /** The answer to an accepted submission: none (`cut`), an error status, or an empty body. */
  readonly accept?: number | 'cut' | 'empty';
  /** Wait between accepting and answering, in milliseconds. */
  readonly acceptMs?: number;
  /** The target of the result's address; a literal address is returned unchanged. */
  readonly link?: string;
  /** The lifetime of the result, in milliseconds. */
  readonly linkMs?: number;
  /** The fault of the served file: a status in place of it, or damage. */
  readonly content?: number | (typeof contentFaults)[number];
  /** Size of huge content. */
  readonly contentBytes?: number;
  /** Bytes per second of slow content. */
  readonly contentRate?: number;
  /** A media type that is declared in place of `video/mp4`. */
  readonly contentType?: string;
};

const contentFaults = ['short', 'huge', 'slow', 'html', 'garbage', 'empty', 'no-length', 'stall'] as const;
const dayMs = 86_400_000;
const bytesMax = 1_000_000_000_000;

const readers: { readonly [key: string]: (value: string) => VideoScript } = {
  ms: (value) => ({ ms: numberIn('ms', value, 0, dayMs) }),
  end: (value) => ({ end: oneOf('end', value, ['done', 'failed', 'expired', 'moderated', 'never']) }),
  code: (value) => ({ code: value }),
  message: (value) => ({ message: value }),
  turn: (value) => ({ turn: oneOf('turn', value, ['done', 'failed']) }),
  'turn-after': (value) => ({ turnAfter: numberIn('turn-after', value, 1, 1000) }),
  progress: (value) => ({ progress: oneOf('progress', value, ['rising', 'back', 'absent', 'text']) }),
  word: (value) => ({ word: value }),
  poll: (value) => ({ poll: statusOr('poll', value, ['empty', 'html', 'reset']) }),
  'poll-times': (value) => ({ pollTimes: numberIn('poll-times', value, 1, 1_000_000) }),
  accept: (value) => ({ accept: statusOr('accept', value, ['cut', 'empty']) }),
  'accept-ms': (value) => ({ acceptMs: numberIn('accept-ms', value, 0, 600_000) }),
  link: (value) => ({ link: value }),
  'link-ms': (value) => ({ linkMs: numberIn('link-ms', value, 0, dayMs) }),
  content: (value) => ({ content: statusOr('content', value, contentFaults) }),
  'content-bytes': (value) => ({ contentBytes: numberIn('content-bytes', value, 1, bytesMax) }),
  'content-rate': (value) => ({ contentRate: numberIn('content-rate', value, 1, bytesMax) }),
  'content-type': (value) => ({ contentType: value }),
};

/**
 * Parses `ms=200;end=failed;code=busy`, any subset. Throws SteeringError for invalid input. The README describes each
 * key.
 */
export function readVideoScript(text: string): VideoScript {
  let script: VideoScript = {};
  for (const part of text.split(';').map((item) => item.trim())) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const key = equals < 0 ? part : part.slice(0, equals);
    const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
    if (read === undefined || equals < 0)
      throw new SteeringError(`video: "${part}" is invalid; known keys: ${Object.keys(readers).join(', ')}, each with =value`);
    script = { ...script, ...read(part.slice(equals + 1)) };
  }
  return script;
}

function numberIn(key: string, value: string, min: number, max: number): number {
  const number = value === '' ? Number.NaN : Number(value);
  if (Number.isFinite(number) && number >= min && number <= max) return number;
  throw new SteeringError(`video: ${key} must be a number from ${min} to ${max}, not "${value}"`);
}

function oneOf<Word extends string>(key: string, value: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === value);
  if (found === undefined) throw new SteeringError(`video: ${key} must be one of ${words.join(', ')}, not "${value}"`);
  return found;
}

function statusOr<Word extends string>(key: string, value: string, words: readonly Word[]): number | Word {
  return /^[3-5]\d\d$/.test(value) ? Number(value) : oneOf(key, value, words);
}
