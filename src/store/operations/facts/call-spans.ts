import type { Database } from '../database.ts';
import { inParts, perRows, valuesOf } from '../in-parts.ts';
import { readInteger } from '../read-column.ts';

/** The columns of call_facts whose names have spans, the narrowest first. */
export const spannedColumns = ['key_ref', 'user_ref', 'model_ref', 'upstream_ref'] as const;
export type SpannedColumn = (typeof spannedColumns)[number];

/** In the order of the migration: stands for calls without a name in a column. */
const withoutName: Readonly<Record<SpannedColumn, number>> = { user_ref: -1, key_ref: -2, model_ref: -3, upstream_ref: -4 };

/** The time of a slot. The migration has the same. */
const slotMs = 10_000;
/** The most numbers of a span, most of which are calls of other names. */
const numbersMax = 256;

const slotOf = (atMs: number): number => Math.trunc(atMs / slotMs);

/** The name of a column, as spans have it. @param number of a name; 0 without one */
export const refInSpans = (column: SpannedColumn, number: number): number => (number === 0 ? withoutName[column] : number);

type Span = { readonly ref: number; readonly slot: number; first: number; last: number };

/**
 * Collects the spans of calls that get facts: for each name and slot the numbers between which its calls lie. A call is
 * in one span of each of its names.
 */
export class CallSpans {
  readonly #all: Span[] = [];
  /** The spans that may grow, by name and slot. */
  readonly #open = new Map<number, Map<number, Span>>();
  #previous = 0;

  add(number: number, atMs: number, refs: readonly number[]): void {
    // Calls that were booked before and those from before the upgrade come in one step: no span may have both.
    if (Math.abs(number - this.#previous) !== 1) this.#open.clear();
    this.#previous = number;
    const slot = slotOf(atMs);
    for (const ref of refs) {
      const slots = this.#open.getOrInsertComputed(ref, () => new Map<number, Span>());
      const span = slots.get(slot);
      if (span !== undefined && Math.abs(number - span.first) < numbersMax && Math.abs(number - span.last) < numbersMax) {
        if (number < span.first) span.first = number;
        if (number > span.last) span.last = number;
        continue;
      }
      const begun = { ref, slot, first: number, last: number };
      slots.set(slot, begun);
      this.#all.push(begun);
    }
  }

  /** Writes them, in the transaction that writes the facts. */
  async write(database: Database): Promise<void> {
    const ordered = this.#all.toSorted((one, other) => one.ref - other.ref || one.slot - other.slot || one.first - other.first);
    for (const part of inParts(ordered, database.fragments.sumsPerInsert))
      await database.run(insert(part.length), ...part.flatMap(({ ref, slot, first, last }) => [ref, slot, first, last]));
  }
}

const insert = perRows((rows) => `insert into call_spans (ref, slot, first_number, last_number) ${valuesOf('(?, ?, ?, ?)', rows)}`);

/** The calls of one name, which is the parameter: follows `from`. @param facts stands for call_facts */
export const callsInSpans = (facts: string): string => `call_spans cross join call_facts as ${facts}
    where call_spans.ref = ? and ${facts}.number >= call_spans.first_number and ${facts}.number <= call_spans.last_number
      and ${facts}.at_ms / ${slotMs} = call_spans.slot`;

/** @param first a column or parameter, as `last`, with the number of a slot */
export const isInSlots = (first: string, last: string): string => `call_spans.slot >= ${first} and call_spans.slot <= ${last}`;

/** The slot of a moment in a column. */
export const slotOfColumn = (column: string): string => `${column} / ${slotMs}`;

/** A place in a list of calls, the newest first. */
type Place = { readonly atMs: number; readonly number: number };

/** The slot of the next call after a place. */
const nextSlot = (from: Place): number => slotOf(from.number <= 0 ? from.atMs - 1 : from.atMs);

/** The slots of the calls that come after a place and not before a moment. */
export const slotsOf = (from: Place, startMs: number): readonly [first: number, last: number] => [slotOf(startMs), nextSlot(from)];

/** This many rows of an index take about as long as a span, of which most numbers may be other calls. */
const rowsOfSpan = 64;

type Reading = { readonly from: Place; readonly startMs: number; readonly rows: number };

/**
 * The beginning of the slot with a name's spans that are read as quickly as some rows. Undefined if its calls end
 * before. `isDense` if that is its first slot: most of its calls have the name, and times find them sooner.
 */
export async function findEndOfSpans(
  database: Database,
  ref: number,
  { from, startMs, rows }: Reading,
): Promise<{ readonly place: Place; readonly isDense: boolean } | undefined> {
  const find = async (offset: number): Promise<number | undefined> => {
    const sql = `select slot from call_spans where ref = ? and slot >= ? and slot <= ? order by slot desc, first_number desc limit 1 offset ?`;
    const row = await database.first(sql, ref, ...slotsOf(from, startMs), offset);
    return row === undefined ? undefined : readInteger(row, 'slot');
  };
  const slot = await find(Math.ceil(rows / rowsOfSpan) - 1);
  // No call has the number 0: all calls of the slot come before this place.
  return slot === undefined ? undefined : { place: { atMs: slot * slotMs, number: 0 }, isDense: (await find(0)) === slot };
}
