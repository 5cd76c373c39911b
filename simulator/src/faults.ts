import { SteeringError } from './steering.ts';

/** Parameters of each fault. The README describes the effect of every fault. */
const faultKeys = {
  status: ['status', 'message', 'retry-after', 'retry-after-ms', 'x-should-retry'],
  'context-overflow': [],
  'error-in-200': ['status', 'message'],
  html: ['status'],
  'empty-body': ['status'],
  redirect: ['status', 'location'],
  'echo-credentials': ['status'],
  refuse: [],
  'reset-before-headers': [],
  'stall-before-headers': ['ms'],
  'stall-after-headers': ['ms'],
  'stall-mid-stream': ['after', 'ms'],
  'reset-mid-stream': ['after', 'cut'],
  truncate: ['after', 'how'],
  'missing-sentinel': [],
  'duplicate-sentinel': [],
  'data-after-sentinel': [],
  'malformed-event': ['after'],
  'huge-event': ['after', 'bytes'],
  'slow-drip': ['rate'],
  'error-event': ['after'],
  'unknown-event': ['after'],
  'unknown-block': [],
  gzip: [],
  'many-headers': ['count'],
  'long-header': ['bytes'],
  'conflicting-lengths': ['kind'],
  'line-ends': ['kind'],
  'split-utf8': [],
  'audio-quirk': ['kind'],
} as const satisfies Record<string, readonly string[]>;

export type FaultName = keyof typeof faultKeys;

export type Fault = { readonly name: FaultName; readonly parameters: Readonly<Record<string, string>> };

/** A fault for future calls, in the format of the control server. */
export type QueuedFault = {
  readonly fault: Fault;
  readonly vendor?: string;
  /** Calls that it still applies to; undefined for all until it is removed. */
  timesLeft: number | undefined;
  /** It applies to every n-th matching call. */
  readonly every: number;
  seen: number;
};

/** Faults that prevent any answer of the model, so that a call leaves no trace in the vendor's caches and stores. */
const withoutAnswer: ReadonlySet<FaultName> = new Set([
  'status',
  'context-overflow',
  'html',
  'error-in-200',
  'empty-body',
  'redirect',
  'echo-credentials',
  'refuse',
  'reset-before-headers',
]);

/** Parses `name;key=value;key=value`. Throws SteeringError for an unknown fault or key. */
export function parseFault(text: string): Fault {
  const [name = '', ...parts] = text.split(';').map((part) => part.trim());
  if (!isFaultName(name)) throw new SteeringError(`fault "${name}" does not exist; the faults are ${Object.keys(faultKeys).join(', ')}`);
  const keys: readonly string[] = faultKeys[name];
  const parameters: Record<string, string> = {};
  for (const part of parts) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const key = equals < 0 ? part : part.slice(0, equals);
    if (!keys.includes(key))
      throw new SteeringError(`fault ${name} does not have the parameter "${key}"; its parameters are ${keys.join(', ') || 'none'}`);
    parameters[key] = equals < 0 ? '' : part.slice(equals + 1);
  }
  return { name, parameters };
}

export function preventsAnswer(fault: Fault | undefined): boolean {
  return fault !== undefined && withoutAnswer.has(fault.name);
}

/**
 * Takes the fault for the next call out of a queue: the first entry that matches and is due. Used entries are removed.
 */
export function takeFault(queue: QueuedFault[], vendor: string): Fault | undefined {
  for (const [index, entry] of queue.entries()) {
    if (entry.vendor !== undefined && entry.vendor !== vendor) continue;
    entry.seen += 1;
    if (entry.seen % entry.every !== 0) continue;
    if (entry.timesLeft !== undefined) entry.timesLeft -= 1;
    if (entry.timesLeft === 0) queue.splice(index, 1);
    return entry.fault;
  }
  return undefined;
}

/**
 * A number among a fault's parameters, or the default. Throws SteeringError unless it is a number within the bounds.
 */
export function numberOf(fault: Fault, key: string, otherwise: number, min: number, max: number): number {
  const text = fault.parameters[key];
  if (text === undefined) return otherwise;
  const value = text === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || value < min || value > max) {
    throw new SteeringError(`fault ${fault.name}: ${key} must be a number from ${min} to ${max}, not "${text}"`);
  }
  return value;
}

/** An enumeration value among a fault's parameters, or the first permitted one. Throws SteeringError for any other. */
export function wordOf<Word extends string>(fault: Fault, key: string, words: readonly [Word, ...Word[]]): Word {
  const text = fault.parameters[key];
  if (text === undefined) return words[0];
  const found = words.find((word) => word === text);
  if (found === undefined) throw new SteeringError(`fault ${fault.name}: ${key} must be one of ${words.join(', ')}, not "${text}"`);
  return found;
}

function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(faultKeys, name);
}
