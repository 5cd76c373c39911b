import type { CallEntry, ChargeLine } from '../../billing/ledger/call-entry.ts';
import { isBilled, statisticsCounts } from '../../billing/ledger/call-entry.ts';
import { toStorableText } from '../storable-text.ts';
import { StoreError } from '../store-error.ts';
import type { SqlRow, SqlValue } from './open-database.ts';
import { readBigInt, readInteger, readOptionalText, readReal, readText } from './read-column.ts';

type ColumnType = 'text' | 'integer' | 'real' | 'flag' | 'json';

/** Where each member of an entry is kept. A member that the seam gains does not compile until it has a column here. */
const entryColumns = {
  callId: ['call_id', 'text'],
  acceptedAtMs: ['accepted_at_ms', 'integer'],
  userName: ['user_name', 'text'],
  keyId: ['key_id', 'text'],
  keyName: ['key_name', 'text'],
  dialect: ['dialect', 'text'],
  requestedModel: ['requested_model', 'text'],
  upstream: ['upstream', 'text'],
  vendor: ['vendor', 'text'],
  upstreamModel: ['upstream_model', 'text'],
  stream: ['stream', 'flag'],
  inputCharacters: ['input_characters', 'integer'],
  priceVersion: ['price_version', 'text'],
  end: ['ended', 'text'],
  upstreamStatus: ['upstream_status', 'integer'],
  upstreamRequestId: ['upstream_request_id', 'text'],
  servedModel: ['served_model', 'text'],
  stopReason: ['stop_reason', 'text'],
  serviceTier: ['service_tier', 'text'],
  errorCode: ['error_code', 'text'],
  usage: ['usage', 'json'],
  rawUsage: ['raw_usage', 'json'],
  estimated: ['estimated', 'flag'],
  durationMs: ['duration_ms', 'real'],
  firstByteMs: ['first_byte_ms', 'real'],
} as const satisfies Record<Exclude<keyof CallEntry, 'charge'>, readonly [string, ColumnType]>;

const entryMembers = Object.entries(entryColumns) as readonly [keyof typeof entryColumns, readonly [string, ColumnType]][];

/** The columns of `calls` in the order of encodeCallEntry's values. */
export const callColumns: readonly string[] = [
  ...entryMembers.map(([, [column]]) => column),
  'amount_nano_usd',
  'charge_lines',
  'price_id',
  'billed',
  'prompt_tokens',
  'completion_tokens',
  'cache_tokens',
  'cache_creation_tokens',
  'use_time_ms',
];

/** What a billed entry adds to the roll-ups, under the names it is grouped by. */
export type UsageIncrement = {
  readonly acceptedAtMs: number;
  readonly userName: string;
  readonly tokenName: string;
  readonly modelName: string;
  readonly promptTokens: bigint;
  readonly completionTokens: bigint;
  readonly cacheTokens: bigint;
  readonly cacheCreationTokens: bigint;
  readonly useTimeMs: bigint;
  readonly amountNanoUsd: bigint;
};

/** Amounts are kept in 64 bits: up to 9.2 billion USD. */
const amountNanoUsdMax = 2n ** 63n - 1n;

/** Turns an entry into the values of its row. Throws StoreError `entry-out-of-range` naming what cannot be kept exactly. */
export function encodeCallEntry(entry: CallEntry): {
  readonly values: readonly SqlValue[];
  readonly increment: UsageIncrement | undefined;
} {
  const { amountNanoUsd, lines, priceId } = entry.charge;
  if (amountNanoUsd > amountNanoUsdMax || amountNanoUsd < -amountNanoUsdMax) {
    throw outOfRange(entry.callId, 'charge.amountNanoUsd', 'beyond 64 bits');
  }
  const increment = createIncrement(entry);
  const billed = isBilled(entry.end);
  const values = [
    ...entryMembers.map(([member, [, type]]) => encodeValue(entry.callId, member, type, entry[member])),
    amountNanoUsd,
    encodeJson(entry.callId, 'charge.lines', lines),
    priceId === undefined ? null : toStorableText(priceId),
    billed ? 1n : 0n,
    increment.promptTokens,
    increment.completionTokens,
    increment.cacheTokens,
    increment.cacheCreationTokens,
    increment.useTimeMs,
  ];
  return { values, increment: billed ? increment : undefined };
}

/** Reads an entry back from its row, exactly as it was appended. */
export function decodeCallEntry(row: SqlRow): CallEntry {
  const entry: Record<string, unknown> = {};
  for (const [member, [column, type]] of entryMembers) {
    if (row[column] !== null) entry[member] = decodeValue(row, column, type);
  }
  const priceId = readOptionalText(row, 'price_id');
  entry.charge = {
    amountNanoUsd: readBigInt(row, 'amount_nano_usd'),
    lines: JSON.parse(readText(row, 'charge_lines')) as readonly ChargeLine[],
    ...(priceId === undefined ? {} : { priceId }),
  };
  return entry as CallEntry;
}

function createIncrement(entry: CallEntry): UsageIncrement {
  const counts = statisticsCounts(entry.usage);
  const count = (name: keyof typeof counts): bigint => toInteger(entry.callId, `usage (${name})`, counts[name]);
  return {
    acceptedAtMs: entry.acceptedAtMs,
    userName: toStorableText(entry.userName),
    tokenName: toStorableText(entry.keyName),
    modelName: toStorableText(entry.requestedModel),
    promptTokens: count('promptTokens'),
    completionTokens: count('completionTokens'),
    cacheTokens: count('cacheTokens'),
    cacheCreationTokens: count('cacheCreationTokens'),
    useTimeMs: toInteger(entry.callId, 'durationMs', Math.round(entry.durationMs)),
    amountNanoUsd: entry.charge.amountNanoUsd,
  };
}

function encodeValue(callId: string, member: string, type: ColumnType, value: unknown): SqlValue {
  if (value === undefined) return null;
  switch (type) {
    case 'text':
      if (typeof value === 'string') return toStorableText(value);
      break;
    case 'integer':
      return toInteger(callId, member, value);
    case 'real':
      if (typeof value === 'number' && Number.isFinite(value)) return value;
      break;
    case 'flag':
      if (typeof value === 'boolean') return value ? 1n : 0n;
      break;
    case 'json':
      return encodeJson(callId, member, value);
  }
  throw outOfRange(callId, member, `no ${type}`);
}

function decodeValue(row: SqlRow, column: string, type: ColumnType): unknown {
  switch (type) {
    case 'text':
      return readText(row, column);
    case 'integer':
      return readInteger(row, column);
    case 'real':
      return readReal(row, column);
    case 'flag':
      return readInteger(row, column) !== 0;
    case 'json':
      return JSON.parse(readText(row, column));
  }
}

function toInteger(callId: string, member: string, value: unknown): bigint {
  // Counts that were added up may exceed 2^53; they are still whole and far below 2^63.
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 62) return BigInt(value);
  throw outOfRange(callId, member, 'no whole number below 2^62');
}

function encodeJson(callId: string, member: string, value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new StoreError('entry-out-of-range', `Entry ${callId} cannot be booked: ${member} has no JSON form.`, {
      callIds: [callId],
      cause: error,
    });
  }
}

function outOfRange(callId: string, member: string, reason: string): StoreError {
  return new StoreError('entry-out-of-range', `Entry ${callId} cannot be booked: ${member} is ${reason}.`, { callIds: [callId] });
}
