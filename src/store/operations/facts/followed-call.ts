import { type CallFact, endCodes, keyLabel } from '../../../billing/calls/call-fact.ts';
import { StoreError } from '../../store-error.ts';
import { type CallRow, columnAt } from '../call-entry-row.ts';
import { newCallColumns, type NumberedRow } from '../new-calls.ts';
import type { SqlParameter, ValueRow } from '../sql-values.ts';
import type { EntryFacts } from './entry-facts.ts';

/** A row of the ledger, as the follower needs it. */
export type FollowedCall = {
  readonly number: number;
  readonly callId: string;
  readonly atMs: number;
  readonly billed: number;
  readonly promptTokens: bigint;
  readonly completionTokens: bigint;
  readonly cacheTokens: bigint;
  readonly cacheCreationTokens: bigint;
  readonly useTimeMs: bigint;
  readonly amountNanoUsd: bigint;
  readonly fact: CallFact;
};

/** Sums come from the columns that the statistics add up, everything else from the entry. */
export function readFollowedCall({ number, values }: NumberedRow, entries: EntryFacts): FollowedCall {
  const [callId, atMs, billed, promptTokens, completionTokens, cacheTokens, cacheCreationTokens, useTimeMs, amountNanoUsd] = values;
  return {
    number,
    callId: toText(callId),
    atMs: Number(toInteger(atMs)),
    billed: Number(toInteger(billed)),
    promptTokens: toInteger(promptTokens),
    completionTokens: toInteger(completionTokens),
    cacheTokens: toInteger(cacheTokens),
    cacheCreationTokens: toInteger(cacheCreationTokens),
    useTimeMs: toInteger(useTimeMs),
    amountNanoUsd: toInteger(amountNanoUsd),
    fact: readFact(values, entries),
  };
}

const columnsOfBooked = newCallColumns.map(columnAt);

/** The values of a row that was just booked, as they would be read. */
export function valuesOfBooked({ values }: CallRow): ValueRow {
  return columnsOfBooked.map((column) => readBack(values[column] ?? null));
}

/** Text may be booked as its bytes. */
function readBack(value: SqlParameter): SqlParameter {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString() : value;
}

/** The shapes of the entries of some rows. */
export function shapesOf(rows: readonly NumberedRow[]): ReadonlySet<number> {
  const shapes = new Set<number>();
  for (const { values } of rows) {
    const shape = shapeOf(values);
    if (shape !== undefined) shapes.add(shape);
  }
  return shapes;
}

const [entryAt, shapeAt, userNameAt] = [
  newCallColumns.indexOf('entry'),
  newCallColumns.indexOf('shape'),
  newCallColumns.indexOf('user_name'),
];

function shapeOf(values: ValueRow): number | undefined {
  const shape = values[shapeAt];
  return shape === null || shape === undefined ? undefined : Number(shape);
}

function toText(value: ValueRow[number] | undefined): string {
  if (typeof value === 'string') return value;
  throw new StoreError('corrupt', `A name of a call must be text; got ${value === null ? 'null' : typeof value}.`);
}

/** An integer from a number of the engine, or of a row that was just booked. */
function toInteger(value: ValueRow[number] | undefined): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'string' || typeof value === 'number') return BigInt(value);
  throw new StoreError('corrupt', `A count of a call must be an integer; got ${value === null ? 'null' : typeof value}.`);
}

/** A text that was damaged must not stop the follower: then only the columns of the row are known. */
function readFact(values: ValueRow, entries: EntryFacts): CallFact {
  try {
    return entries.factOf(toText(values[0]), toText(values[entryAt]), shapeOf(values));
  } catch {
    const name = (value: string) => ({ value, label: '' });
    const [user, key, keyId, model] = values.slice(userNameAt);
    const [userName, keyName] = [toText(user), toText(key)];
    return {
      names: {
        user: name(userName),
        key: { value: typeof keyId === 'string' ? keyId : '', label: keyLabel(userName, keyName) },
        model: name(toText(model)),
        servedModel: undefined,
        upstream: undefined,
        upstreamModel: undefined,
        interface: undefined,
        error: undefined,
        team: undefined,
      },
      tags: undefined,
      endCode: endCodes.lost,
      status: 0,
      flags: 0,
      parentId: undefined,
      isRound: false,
      isRequest: true,
      firstByteMs: undefined,
      failedAttempts: [],
    };
  }
}
