import { SteeringError } from '../steering.ts';

/** How a simulated video job goes and what its interface tells of it. Every member is optional: an empty script is a job that succeeds. */
export type VideoScript = {
  /** From submission to the end, in milliseconds. */
  readonly ms?: number;
  /** What the job comes to; `never` leaves it working. */
  readonly end?: 'done' | 'failed' | 'expired' | 'moderated' | 'never';
  /** The error of a failure. */
  readonly code?: string;
  readonly message?: string;
  /** What is told once the end was told `turnAfter` times (1): a vendor that changes its mind. */
  readonly turn?: 'done' | 'failed';
  readonly turnAfter?: number;
  /** `back` falls at every other poll, `absent` is not told, `text` is told as "50%". */
  readonly progress?: 'rising' | 'back' | 'absent' | 'text';
  /** A status word in place of the true one, while the job works; for ever where it never ends. */
  readonly word?: string;
  /** How polls are answered in place of the truth: an HTTP status, or a reply that is none. */
  readonly poll?: number | 'empty' | 'html' | 'reset';
  /** How many polls; all of them if absent. */
  readonly pollTimes?: number;
  /** How a submission is answered once it has been accepted: not at all (`cut`), with a status of failure, or with an empty body. */
  readonly accept?: number | 'cut' | 'empty';
  /** Wait between accepting and answering, in milliseconds. */
  readonly acceptMs?: number;
  /** Where the result's address leads; a literal address is given as it stands. */
  readonly link?: string;
  /** How long the result can be fetched, in milliseconds. */
  readonly linkMs?: number;
  /** What is wrong with the file as it is served: a status in place of it, or a fault. */
  readonly content?: number | (typeof contentFaults)[number];
  /** Size of huge content. */
  readonly contentBytes?: number;
  /** Bytes a second of slow content. */
  readonly contentRate?: number;
  /** A media type that is told in place of `video/mp4`. */
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

/** Reads `ms=200;end=failed;code=busy`, any subset. Throws SteeringError for what means nothing. The README says what each key does. */
export function readVideoScript(text: string): VideoScript {
  let script: VideoScript = {};
  for (const part of text.split(';').map((item) => item.trim())) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const key = equals < 0 ? part : part.slice(0, equals);
    const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
    if (read === undefined || equals < 0)
      throw new SteeringError(`video: "${part}" means nothing; known are ${Object.keys(readers).join(', ')}, each with =value`);
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
