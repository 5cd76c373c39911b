import type { AccountKind } from '../../inference/interfaces.ts';
import { type CallEntry, isBilled } from '../ledger/call-entry.ts';
import { createModelMatcher } from './match-models.ts';
import {
  addCounts,
  isOfAccount,
  kindOfRow,
  noCounts,
  type ReconciledAccount,
  type RowUsage,
  type Sign,
  signs,
  usageOfRow,
} from './row-usage.ts';
import { dayIn, type UsageClass, usageClasses, type VendorUsage } from './vendor-usage.ts';

/** One class of usage of a model on a day, in the ledger and in the export. */
export type ComparedUsage = {
  readonly usageClass: UsageClass;
  readonly ours: number;
  readonly theirs: number;
  /** The vendor's count minus the ledger's. */
  readonly difference: number;
};

/** The comparison of a model on a day. */
export type ReconciledCell = {
  readonly model: string;
  readonly day: string;
  /** The classes that the vendor's export counts. */
  readonly usage: readonly ComparedUsage[];
  /** The number of rows by sign. */
  readonly signs: Readonly<Partial<Record<Sign, number>>>;
};

export type CellCall = {
  readonly entry: CallEntry;
  readonly counts: RowUsage['counts'];
  readonly signs: readonly Sign[];
  /** Whether the ledger exceeds the vendor in this cell by exactly this call. */
  readonly explains: boolean;
};

type Sums = {
  readonly model: string;
  readonly day: string;
  readonly ours: Record<UsageClass, number>;
  readonly theirs: Record<UsageClass, number>;
  readonly signs: Map<Sign, number>;
};

/** Compares a vendor's export with rows of the ledger. Its memory grows with models times days, not with calls. */
export class Reconciliation {
  readonly #account: ReconciledAccount;
  readonly #classes: readonly UsageClass[];
  readonly #kinds: VendorUsage['kinds'];
  readonly #cells = new Map<string, Sums>();
  readonly #leftOut = new Map<AccountKind, number>();

  /** @param source the vendor and the upstream of the export, in the ledger's names */
  constructor(theirs: VendorUsage, source: Pick<ReconciledAccount, 'vendor' | 'upstream'>) {
    const matchModel = createModelMatcher(theirs.rows.map(({ model }) => model));
    this.#account = { ...source, timeZone: theirs.timeZone, matchModel };
    this.#kinds = theirs.kinds;
    this.#classes = usageClasses.filter((usageClass) => theirs.rows.some(({ counts }) => counts[usageClass] !== undefined));
    for (const { model, startMs, counts } of theirs.rows) addCounts(this.#cell(model, dayIn(theirs.timeZone, startMs)).theirs, counts);
  }

  /** Adds a row of the ledger that was accepted in the time of the export. */
  add(entry: CallEntry): void {
    if (!this.#isContained(entry)) {
      const kind = kindOfRow(entry);
      if (isOfAccount(entry, this.#account) && isBilled(entry)) this.#leftOut.set(kind, (this.#leftOut.get(kind) ?? 0) + 1);
      return;
    }
    for (const { model, day, counts, signs: found } of usageOfRow(entry, this.#account)) {
      const cell = this.#cell(model, day);
      addCounts(cell.ours, counts);
      for (const sign of found) cell.signs.set(sign, (cell.signs.get(sign) ?? 0) + 1);
    }
  }

  /** All cells, by day and model. */
  cells(): ReconciledCell[] {
    return [...this.#cells.values()]
      .map((sums) => this.#compare(sums))
      .toSorted((one, other) => (`${one.day}\n${one.model}` < `${other.day}\n${other.model}` ? -1 : 1));
  }

  /** Billed rows of the account that the export cannot contain, by kind. */
  leftOut(): Readonly<Partial<Record<AccountKind, number>>> {
    return Object.fromEntries(this.#leftOut);
  }

  /** A row as a call of a cell, after all rows were added. Undefined if it adds nothing to the cell. */
  callOf(entry: CallEntry, cell: ReconciledCell): CellCall | undefined {
    if (!this.#isContained(entry)) return undefined;
    const parts = usageOfRow(entry, this.#account).filter(({ model, day }) => model === cell.model && day === cell.day);
    if (parts.length === 0) return undefined;
    const counts = noCounts();
    for (const part of parts) addCounts(counts, part.counts);
    const found = new Set(parts.flatMap((part) => part.signs));
    const isDifferent = cell.usage.some(({ difference }) => difference !== 0);
    const explains = isDifferent && cell.usage.every(({ usageClass, difference }) => counts[usageClass] === -difference);
    return { entry, counts, signs: signs.filter((sign) => found.has(sign)), explains };
  }

  #isContained(entry: CallEntry): boolean {
    return this.#kinds === undefined || this.#kinds.includes(kindOfRow(entry));
  }

  #cell(model: string, day: string): Sums {
    const make = (): Sums => ({ model, day, ours: noCounts(), theirs: noCounts(), signs: new Map() });
    return this.#cells.getOrInsertComputed(`${day}\n${model}`, make);
  }

  #compare({ model, day, ours, theirs, signs: found }: Sums): ReconciledCell {
    const usage = this.#classes.map((usageClass) => ({
      usageClass,
      ours: ours[usageClass],
      theirs: theirs[usageClass],
      difference: theirs[usageClass] - ours[usageClass],
    }));
    return { model, day, usage, signs: Object.fromEntries(found) };
  }
}

/** A difference in percent of the greater count. */
export function percentOf({ ours, theirs, difference }: ComparedUsage): number {
  return difference === 0 ? 0 : (difference * 100) / Math.max(ours, theirs);
}

/** The likely causes of a difference; empty without one. */
export function likelyCauses({ usage, signs: found }: ReconciledCell): string[] {
  if (usage.every(({ difference }) => difference === 0)) return [];
  const seen = signs.filter((sign) => (found[sign] ?? 0) > 0).map((sign) => `${found[sign] ?? 0} ${sign}`);
  if (seen.length > 0) return seen;
  return usage.some(({ difference }) => difference > 0)
    ? ['calls that did not go through this gateway, or rows that are not booked yet']
    : ['the vendor has not counted everything yet, or calls went to another account'];
}
