import { type CallFact, endCodes, keyLabel } from '../../../billing/calls/call-fact.ts';
import { StoreError } from '../../store-error.ts';
import { type CallRow, columnAt } from '../call-entry-row.ts';
import type { Integer } from '../exact-sum.ts';
import { newCallColumns, type NumberedRow } from '../new-calls.ts';
import type { ValueRow } from '../sql-values.ts';
import type { EntryFacts } from './entry-facts.ts';

/** A row of the ledger, as the follower needs it. */
export type FollowedCall = {
  readonly number: number;
  readonly callId: string;
  readonly atMs: number;
  readonly billed: number;
  readonly promptTokens: Integer;
  readonly completionTokens: Integer;
  readonly cacheTokens: Integer;
  readonly cacheCreationTokens: Integer;
  readonly useTimeMs: Integer;
  readonly amountNanoUsd: Integer;
  readonly fact: CallFact;
};

/** The places of columns in the values of a row. */
type Places = Readonly<Record<(typeof newCallColumns)[number], number>>;

const placesBy = (placeOf: (column: keyof Places) => number): Places =>
  Object.fromEntries(newCallColumns.map((column) => [column, placeOf(column)])) as Places;
const placesOfRead = placesBy((column) => newCallColumns.indexOf(column));
const placesOfBooked = placesBy(columnAt);

/** A row that was read from the ledger. */
export function readFollowedCall({ number, values }: NumberedRow, entries: EntryFacts): FollowedCall {
  return readCall(number, values, placesOfRead, entries);
}

/** A row that was just booked. */
export function readBookedCall(number: number, { values }: CallRow, entries: EntryFacts): FollowedCall {
  return readCall(number, values, placesOfBooked, entries);
}

/** Sums come from the columns that the statistics add up, everything else from the entry. */
function readCall(number: number, values: ValueRow, at: Places, entries: EntryFacts): FollowedCall {
  return {
    number,
    callId: toText(values[at.call_id]),
    atMs: Number(toInteger(values[at.accepted_at_ms])),
    billed: Number(toInteger(values[at.billed])),
    promptTokens: toInteger(values[at.prompt_tokens]),
    completionTokens: toInteger(values[at.completion_tokens]),
    cacheTokens: toInteger(values[at.cache_tokens]),
    cacheCreationTokens: toInteger(values[at.cache_creation_tokens]),
    useTimeMs: toInteger(values[at.use_time_ms]),
    amountNanoUsd: toInteger(values[at.amount_nano_usd]),
    fact: readFact(values, at, entries),
  };
}

/** The shapes of the entries of some rows that were read. */
export const shapesOfRead = (rows: readonly NumberedRow[]): ReadonlySet<number> => shapesOf(rows, placesOfRead);

/** The shapes of the entries of some rows that were just booked. */
export const shapesOfBooked = (rows: readonly CallRow[]): ReadonlySet<number> => shapesOf(rows, placesOfBooked);

function shapesOf(rows: readonly { readonly values: ValueRow }[], at: Places): ReadonlySet<number> {
  const shapes = new Set<number>();
  for (const { values } of rows) {
    const shape = shapeOf(values, at);
    if (shape !== undefined) shapes.add(shape);
  }
  return shapes;
}

function shapeOf(values: ValueRow, at: Places): number | undefined {
  const shape = values[at.shape];
  return shape === null || shape === undefined ? undefined : Number(shape);
}

function toText(value: ValueRow[number] | undefined): string {
  if (typeof value === 'string') return value;
  // Text may be booked as its bytes.
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();
  throw new StoreError('corrupt', `A name of a call must be text; got ${value === null ? 'null' : typeof value}.`);
}

/** An integer of the engine, or of a row that was just booked. */
function toInteger(value: ValueRow[number] | undefined): Integer {
  if (typeof value === 'number') return value;
  if (typeof value !== 'bigint' && typeof value !== 'string')
    throw new StoreError('corrupt', `A count of a call must be an integer; got ${value === null ? 'null' : typeof value}.`);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
}

/** A text that was damaged must not stop the follower: then only the columns of the row are known. */
function readFact(values: ValueRow, at: Places, entries: EntryFacts): CallFact {
  try {
    return entries.factOf(toText(values[at.call_id]), toText(values[at.entry]), shapeOf(values, at));
  } catch {
    const name = (value: string) => ({ value, label: '' });
    const [userName, keyName] = [toText(values[at.user_name]), toText(values[at.key_name])];
    const keyId = values[at.key_id];
    return {
      names: {
        user: name(userName),
        key: { value: typeof keyId === 'string' ? keyId : '', label: keyLabel(userName, keyName) },
        model: name(toText(values[at.requested_model])),
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
