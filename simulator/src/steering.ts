import { isRecord, type Json, type JsonRecord } from './read-json.ts';

const stops = ['end', 'max-tokens', 'stop-sequence', 'tool-use', 'refusal', 'content-filter', 'pause'] as const;
/** Why a simulated model stops. */
export type ReplyStop = (typeof stops)[number];

/** The speed of a reply. */
export type Pace = {
  /** Output tokens per second; 0 writes as fast as the reader reads. */
  readonly tokensPerSecond: number;
  /** Wait before the first frame with content, in milliseconds. */
  readonly firstTokenMs: number;
  /** Output tokens in one frame, at least 1. */
  readonly tokensPerFrame: number;
  /** Size in bytes of each piece of the byte stream, independent of frames; 0 writes frame by frame. */
  readonly chunkBytes: number;
};

export type UsageOverride = { readonly [member: string]: string | number | null };

/** A caller's settings for one reply. Every member is optional; the plan decides the absent ones. */
export type Steering = {
  readonly stop?: ReplyStop;
  readonly text?: string;
  /**
   * The text that replaces `text` once that is in the conversation: the answer of a model that is asked to repair its
   * answer.
   */
  readonly thenText?: string;
  readonly outputTokens?: number;
  readonly toolCalls?: number;
  /** The one tool to call: once, if it is offered and no result has just arrived. A text follows it. */
  readonly toolName?: string;
  /** Arguments of every call instead of generated ones: JSON, which the format may write as text. */
  readonly toolArguments?: JsonRecord;
  /** The exact thoughts of a model that thinks. */
  readonly reasoning?: string;
  readonly usage?: UsageOverride | 'absent' | 'null';
  readonly pace?: Partial<Pace>;
  readonly seed?: string;
  readonly fault?: string;
  /** The behaviour of a video job; parsed by `readVideoScript`. */
  readonly video?: string;
  readonly tag?: string;
};

/** An invalid control header or directive. Answered with 400, so that a mistyped test does not pass by accident. */
export class SteeringError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SteeringError';
  }
}

const paceKeys = ['tokensPerSecond', 'firstTokenMs', 'tokensPerFrame', 'chunkBytes'] as const;
const outputTokensMax = 1_000_000;
const toolCallsMax = 8;
const noSteering: Steering = {};

/** Parses one setting by its name without the `x-simulator-` prefix. */
const readers: { readonly [name: string]: (value: string) => Steering } = {
  stop: (value) => ({ stop: oneOf('stop', value, stops) }),
  text: (value) => ({ text: decode('text', value) }),
  'then-text': (value) => ({ thenText: decode('then-text', value) }),
  'output-tokens': (value) => ({ outputTokens: wholeNumber('output-tokens', value, outputTokensMax) }),
  'tool-calls': (value) => ({ toolCalls: wholeNumber('tool-calls', value, toolCallsMax) }),
  'tool-name': (value) => ({ toolName: decode('tool-name', value) }),
  'tool-arguments': (value) => ({ toolArguments: readArguments(value) }),
  reasoning: (value) => ({ reasoning: decode('reasoning', value) }),
  usage: (value) => ({ usage: readUsage(value) }),
  pace: (value) => ({ pace: readPace(value) }),
  seed: (value) => ({ seed: value }),
  fault: (value) => ({ fault: value }),
  video: (value) => ({ video: value }),
  tag: (value) => ({ tag: value }),
};

/**
 * Parses the headers `x-simulator-*` (lower-case names). Throws SteeringError for an unknown name or an invalid value.
 */
export function readSteering(headers: Readonly<Record<string, string | undefined>>): Steering {
  let steering: Steering = noSteering;
  for (const name in headers) {
    if (!name.startsWith('x-simulator-')) continue;
    const value = headers[name];
    if (value !== undefined) steering = { ...steering, ...readOne(name.slice('x-simulator-'.length), value) };
  }
  return steering;
}

const directive = /\[\[simulator ([^\]]{1,4000})\]\]/;

/**
 * Parses a directive in the prompt: `[[simulator stop=refusal output-tokens=20 text=Hello%20there]]`, with the names of
 * the headers and URL-encoded values. It is for clients that cannot send headers of their own.
 */
export function readPromptSteering(text: string): Steering {
  // Without the marker, the usual case, a prompt of many kilobytes costs one search.
  if (!text.includes('[[simulator ')) return noSteering;
  const found = directive.exec(text)?.[1];
  if (found === undefined) return noSteering;
  let steering: Steering = noSteering;
  for (const part of found.trim().split(/\s+/)) {
    const equals = part.indexOf('=');
    if (equals < 1) throw new SteeringError(`the simulator directive must have the form name=value, not "${part}"`);
    steering = { ...steering, ...readOne(part.slice(0, equals), decode('directive', part.slice(equals + 1))) };
  }
  return steering;
}

/** Parses `tokensPerSecond=40;firstTokenMs=200`, any subset of the pace. */
export function readPace(value: string): Partial<Pace> {
  let pace: Partial<Pace> = {};
  for (const part of value.split(';')) {
    if (part.trim() === '') continue;
    const [key = '', number = ''] = part.split('=').map((text) => text.trim());
    const name = oneOf('pace', key, paceKeys);
    const amount = number === '' ? Number.NaN : Number(number);
    const least = name === 'tokensPerFrame' ? 1 : 0;
    if (!Number.isFinite(amount) || amount < least)
      throw new SteeringError(`pace: ${name} must be a number of at least ${least}, not "${number}"`);
    pace = { ...pace, [name]: amount };
  }
  return pace;
}

function readOne(name: string, value: string): Steering {
  const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (read === undefined)
    throw new SteeringError(`x-simulator-${name} is not a control header; known names: ${Object.keys(readers).join(', ')}`);
  return read(value);
}

function readArguments(value: string): JsonRecord {
  let parsed: Json;
  try {
    parsed = JSON.parse(decode('tool-arguments', value)) as Json;
  } catch {
    throw new SteeringError('tool-arguments must be a URL-encoded JSON object');
  }
  if (!isRecord(parsed)) throw new SteeringError('tool-arguments must be a JSON object');
  return parsed;
}

function readUsage(value: string): UsageOverride | 'absent' | 'null' {
  if (value === 'absent' || value === 'null') return value;
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    throw new SteeringError('usage must be "absent", "null" or a JSON object of member names and replacements');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new SteeringError('usage must be a JSON object');
  const override: { [member: string]: string | number | null } = {};
  for (const [member, replacement] of Object.entries(parsed as Record<string, unknown>)) {
    if (replacement !== null && typeof replacement !== 'string' && typeof replacement !== 'number') {
      throw new SteeringError(`usage: the replacement of ${member} must be a word, a number or null`);
    }
    override[member] = replacement;
  }
  return override;
}

function oneOf<Word extends string>(name: string, value: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === value);
  if (found === undefined) throw new SteeringError(`${name} must be one of ${words.join(', ')}, not "${value}"`);
  return found;
}

function wholeNumber(name: string, value: string, max: number): number {
  if (!/^\d{1,9}$/.test(value) || Number(value) > max)
    throw new SteeringError(`${name} must be a whole number from 0 to ${max}, not "${value}"`);
  return Number(value);
}

function decode(name: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new SteeringError(`${name} must be URL-encoded UTF-8`);
  }
}
