import { billingOf } from '../ledger/call-entry.ts';
import type { PricedEntry, PricedRow } from './priced-row.ts';
import { type RepricingBooks, repriceEntry } from './reprice-entry.ts';

export const comparisonGroupings = ['user', 'key', 'model'] as const;
export type ComparisonGrouping = (typeof comparisonGroupings)[number];

/** The charges of a user, key or model, and those by the other book. */
export type ComparedGroup = {
  readonly name: string;
  /** Calls without their parts. */
  readonly calls: number;
  readonly bookedNanoUsd: bigint;
  /** The charge at the same moment by the book in force, without the staged changes. */
  readonly inForceNanoUsd: bigint;
  readonly stagedNanoUsd: bigint;
};

/** Rows of a model that the other book cannot price exactly, with the reason. */
type DoubtfulRows = { readonly model: string; readonly reason: string; readonly rows: number };

export type ComparisonResult = {
  /** The largest difference first. */
  readonly groups: readonly ComparedGroup[];
  readonly total: ComparedGroup;
  readonly doubtful: readonly DoubtfulRows[];
};

type Sums = { calls: number; bookedNanoUsd: bigint; inForceNanoUsd: bigint; stagedNanoUsd: bigint };
type Doubt = { readonly model: string; readonly reason: string; rows: number };

/** What each row of a kind adds. */
type Part = {
  /** The sums that it adds to; undefined for rows that no book charges. */
  readonly sums: Sums | undefined;
  readonly calls: number;
  readonly inForceNanoUsd: bigint;
  readonly stagedNanoUsd: bigint;
  readonly doubt: Doubt | undefined;
  /** The only day (UTC) of acceptance that it is true for; undefined if it is true for all. */
  readonly day: number | undefined;
};

const dayMs = 86_400_000;
const dayOf = ({ acceptedAtMs }: Pick<PricedRow, 'acceptedAtMs'>): number => Math.floor(acceptedAtMs / dayMs);
const nothing: Part = { sums: undefined, calls: 0, inForceNanoUsd: 0n, stagedNanoUsd: 0n, doubt: undefined, day: undefined };

/** Parts that are remembered: some megabytes. Rows with the same counts often follow each other. */
const partsMax = 20_000;

/**
 * Adds up rows as booked and as priced by another book. Rows of the same kind are priced once. Its memory grows with
 * the groups, not with the rows.
 */
export class PriceComparison {
  readonly #grouping: ComparisonGrouping;
  readonly #books: RepricingBooks;
  readonly #groups = new Map<string, Sums>();
  readonly #doubts = new Map<string, Doubt>();
  readonly #parts = new Map<string, Part>();

  constructor(grouping: ComparisonGrouping, books: RepricingBooks) {
    this.#grouping = grouping;
    this.#books = books;
  }

  /** Adds a row if one of its kind was priced. False: it was not added, and its entry must be read. */
  addAgain(row: PricedRow): boolean {
    const part = row.kind === undefined ? undefined : this.#parts.get(row.kind);
    if (part === undefined || (part.day !== undefined && part.day !== dayOf(row))) return false;
    addPart(part, row);
    return true;
  }

  /** Prices a row, and adds it. @param entry the entry of the row */
  add(row: PricedRow, entry: PricedEntry): void {
    const part = this.#price(row, entry);
    addPart(part, row);
    if (row.kind === undefined) return;
    if (this.#parts.size >= partsMax) this.#parts.clear();
    this.#parts.set(row.kind, part);
  }

  result(): ComparisonResult {
    const groups = [...this.#groups].map(([name, sums]) => ({ name, ...sums })).toSorted(byDifference);
    const total = { name: 'total', calls: 0, bookedNanoUsd: 0n, inForceNanoUsd: 0n, stagedNanoUsd: 0n };
    for (const group of groups) {
      total.calls += group.calls;
      total.bookedNanoUsd += group.bookedNanoUsd;
      total.inForceNanoUsd += group.inForceNanoUsd;
      total.stagedNanoUsd += group.stagedNanoUsd;
    }
    return { groups, total, doubtful: [...this.#doubts.values()].toSorted((one, other) => other.rows - one.rows) };
  }

  #price(row: PricedRow, entry: PricedEntry): Part {
    const repriced = repriceEntry({ ...entry, acceptedAtMs: row.acceptedAtMs }, this.#books);
    if (repriced === undefined) return nothing;
    const { inForceNanoUsd, stagedNanoUsd, isUnpriced, missing, isOfItsDay } = repriced;
    const name = nameOf(entry, this.#grouping);
    return {
      sums: this.#groups.getOrInsertComputed(name, () => ({ calls: 0, bookedNanoUsd: 0n, inForceNanoUsd: 0n, stagedNanoUsd: 0n })),
      calls: billingOf(entry) === 1 ? 1 : 0,
      inForceNanoUsd,
      stagedNanoUsd,
      doubt: isUnpriced || missing.length > 0 ? this.#findDoubt(entry, isUnpriced, missing) : undefined,
      day: isOfItsDay ? dayOf(row) : undefined,
    };
  }

  #findDoubt({ vendor, upstreamModel }: PricedEntry, isUnpriced: boolean, missing: readonly string[]): Doubt {
    const model = `${vendor}/${upstreamModel}`;
    const reason = isUnpriced ? 'no price' : `not stored with the call: ${missing.join(', ')}`;
    return this.#doubts.getOrInsertComputed(`${model}\n${reason}`, () => ({ model, reason, rows: 0 }));
  }
}

function addPart({ sums, calls, inForceNanoUsd, stagedNanoUsd, doubt }: Part, { amountNanoUsd }: PricedRow): void {
  if (sums === undefined) return;
  sums.calls += calls;
  sums.bookedNanoUsd += amountNanoUsd;
  sums.inForceNanoUsd += inForceNanoUsd;
  sums.stagedNanoUsd += stagedNanoUsd;
  if (doubt !== undefined) doubt.rows += 1;
}

function nameOf({ userName, keyName, keyId, requestedModel }: PricedEntry, grouping: ComparisonGrouping): string {
  switch (grouping) {
    case 'user':
      return userName;
    case 'key':
      // Names of keys need not be unique.
      return `${userName} / ${keyName} (${keyId})`;
    case 'model':
      return requestedModel;
  }
}

/** The largest difference first, whether higher or lower; equal ones by name. */
function byDifference(one: ComparedGroup, other: ComparedGroup): number {
  return Number(differenceOf(other) - differenceOf(one)) || (one.name < other.name ? -1 : 1);
}

function differenceOf({ inForceNanoUsd, stagedNanoUsd }: ComparedGroup): bigint {
  return inForceNanoUsd < stagedNanoUsd ? stagedNanoUsd - inForceNanoUsd : inForceNanoUsd - stagedNanoUsd;
}
