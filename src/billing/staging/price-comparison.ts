import { billingOf, type CallEntry } from '../ledger/call-entry.ts';
import { type RepricedEntry, repriceEntry } from './reprice-entry.ts';

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

/** Adds up rows as booked and as priced by another book. Its memory grows with the groups, not with the rows. */
export class PriceComparison {
  readonly #grouping: ComparisonGrouping;
  readonly #books: Parameters<typeof repriceEntry>[1];
  readonly #groups = new Map<string, Sums>();
  readonly #doubtful = new Map<string, { model: string; reason: string; rows: number }>();

  constructor(grouping: ComparisonGrouping, books: Parameters<typeof repriceEntry>[1]) {
    this.#grouping = grouping;
    this.#books = books;
  }

  add(entry: CallEntry): void {
    const repriced = repriceEntry(entry, this.#books);
    const inForce = repriceEntry(entry, { ...this.#books, staged: this.#books.current });
    if (repriced === undefined || inForce === undefined) return;
    const name = nameOf(entry, this.#grouping);
    const sums = this.#groups.getOrInsertComputed(name, () => ({ calls: 0, bookedNanoUsd: 0n, inForceNanoUsd: 0n, stagedNanoUsd: 0n }));
    if (billingOf(entry) === 1) sums.calls += 1;
    sums.bookedNanoUsd += entry.charge.amountNanoUsd;
    sums.inForceNanoUsd += inForce.nanoUsd;
    sums.stagedNanoUsd += repriced.nanoUsd;
    this.#noteDoubt(entry, repriced);
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
    return { groups, total, doubtful: [...this.#doubtful.values()].toSorted((one, other) => other.rows - one.rows) };
  }

  #noteDoubt({ vendor, upstreamModel }: CallEntry, { isUnpriced, missing }: RepricedEntry): void {
    if (!isUnpriced && missing.length === 0) return;
    const model = `${vendor}/${upstreamModel}`;
    const reason = isUnpriced ? 'no price' : `not stored with the call: ${missing.join(', ')}`;
    this.#doubtful.getOrInsertComputed(`${model}\n${reason}`, () => ({ model, reason, rows: 0 })).rows += 1;
  }
}

function nameOf({ userName, keyName, keyId, requestedModel }: CallEntry, grouping: ComparisonGrouping): string {
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
