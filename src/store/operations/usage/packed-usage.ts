import type { UsageRank, UsageSums } from '../../../billing/usage/usage-store.ts';
import type { Database } from '../database.ts';
import { readInteger } from '../read-column.ts';
import type { StatisticsPlan } from '../statistics-plan.ts';
import { type GroupKey, Grouping, joinKey, PackRanks, PackSums } from './add-packs.ts';
import type { KeptPack, KeptPacks, NumberedPack, PackReading, PackSource } from './kept-packs.ts';
import { usageForm } from './pack.ts';

/** Sums of the days and hours of a question that have packs, in one snapshot. */
export type PackedUsage = {
  /** The sums of all groups together by bucket and, for columns, the sum that ranks each group. */
  readonly survey: (
    columns: readonly string[],
    rankBy: UsageRank | undefined,
  ) => Promise<{ readonly totals: ReadonlyMap<number, UsageSums>; readonly ranks: readonly Rank[] }>;
  /** The sums of given groups by bucket, by the joined values of their columns. */
  readonly sum: (columns: readonly string[], keys: readonly GroupKey[]) => Promise<ReadonlyMap<string, ReadonlyMap<number, UsageSums>>>;
};

type Rank = { readonly key: GroupKey; readonly sum: bigint };
/** A pack, and the position of its bucket. */
export type TakenPack = NumberedPack & { readonly position: number };

/** Selects groups; a list that is absent selects all. Names are storable texts, a key has its user and its name. */
export type PackFilter = {
  readonly users?: readonly string[] | undefined;
  readonly keys?: readonly (readonly string[])[] | undefined;
  readonly models?: readonly string[] | undefined;
};

/** The packs of usage_days. */
export const usagePacks: PackSource = {
  form: usageForm,
  load: async (database, wanted) => {
    const sql = 'select number, sums from usage_packs where day >= ? and day <= ? and number > 0';
    return await database.all(sql, wanted[0]?.from ?? 0, wanted.at(-1)?.from ?? 0);
  },
};

/**
 * Takes the days that have packs out of a plan.
 * @returns the plan of what remains, and the packs; undefined if no day of the plan has one
 */
export async function takePackedDays(
  database: Database,
  kept: KeptPacks,
  plan: StatisticsPlan,
  filter: PackFilter,
): Promise<{ readonly plan: StatisticsPlan; readonly packed: PackedUsage } | undefined> {
  const spans = plan.pieces.flatMap((pieces) => pieces.filter(({ source }) => source === 'days'));
  const [from, until] = [spans[0]?.from, spans.at(-1)?.until];
  if (from === undefined || until === undefined) return undefined;
  const sql = 'select day, number from usage_packs where day >= ? and day < ? and number > 0 order by day';
  const found = await database.all(sql, from, until);
  if (found.length === 0) return undefined;
  const packOf = new Map(found.map((row) => [readInteger(row, 'day'), readInteger(row, 'number')]));
  const ends = new Map(plan.dayBounds.map((bound, index) => [bound / 60, (plan.dayBounds[index + 1] ?? bound) / 60]));
  const taken: TakenPack[] = [];
  const pieces = plan.pieces.map((parts, position) =>
    parts.flatMap((piece) => {
      if (piece.source !== 'days') return [piece];
      const rest: { source: 'days'; from: number; until: number }[] = [];
      for (let day = piece.from; day < piece.until; day = ends.get(day) ?? piece.until) {
        const end = ends.get(day) ?? piece.until;
        const number = packOf.get(day);
        const last = rest.at(-1);
        if (number !== undefined) taken.push({ from: day, number, position });
        else if (last?.until === day) last.until = end;
        else rest.push({ source: 'days', from: day, until: end });
      }
      return rest;
    }),
  );
  const reading = kept.begin(database);
  const groupingOf = (columns: readonly string[]): Grouping => new Grouping(reading.table, keyOfNames(reading, columns, filter));
  return {
    plan: { ...plan, pieces, runEnds: pieces.map(() => undefined) },
    packed: addUp(reading, taken, groupingOf, plan.buckets.length),
  };
}

function keyOfNames(
  { form, table }: PackReading,
  columns: readonly string[],
  { users, keys, models }: PackFilter,
): (group: number) => GroupKey | undefined {
  const order = Object.values(form.names);
  const places = columns.map((column) => order.indexOf(column));
  const [user, model] = [users, models].map((names) => (names === undefined ? undefined : new Set<string | number>(names)));
  const pairs = keys === undefined ? undefined : new Set(keys.map(joinKey));
  return (group) => {
    const [userName, tokenName, modelName] = [table.nameOf(group, 0), table.nameOf(group, 1), table.nameOf(group, 2)];
    const isSelected =
      (user?.has(userName) ?? true) && (model?.has(modelName) ?? true) && (pairs?.has(joinKey([userName, tokenName])) ?? true);
    return isSelected ? places.map((place) => table.nameOf(group, place)) : undefined;
  };
}

/** Adds up packs in the groups of a question. @param buckets their number */
export function addUp(
  reading: PackReading,
  taken: readonly TakenPack[],
  groupingOf: (columns: readonly string[]) => Grouping,
  buckets: number,
): PackedUsage {
  const { form } = reading;
  const positions = new Map(taken.map(({ number, position }) => [number, position]));
  const readAll = async (add: (position: number, pack: KeptPack) => void): Promise<void> => {
    for await (const [number, pack] of reading.read(taken)) add(positions.get(number) ?? 0, pack);
  };
  return {
    survey: async (columns, rankBy) => {
      const totals = new PackSums(form, groupingOf([]), () => 0, { size: 1, buckets });
      const ranks = rankBy === undefined ? undefined : new PackRanks(groupingOf(columns), rankBy);
      await readAll((position, pack) => {
        totals.add(position, pack);
        ranks?.add(pack);
      });
      return { totals: totals.read(0), ranks: ranks?.read() ?? [] };
    },
    sum: async (columns, keys) => {
      const cells = new Map(keys.map((key, cell) => [joinKey(key), cell]));
      const sums = new PackSums(form, groupingOf(columns), (key) => cells.get(joinKey(key)), { size: keys.length, buckets });
      await readAll((position, pack) => sums.add(position, pack));
      return new Map([...cells].map(([key, cell]) => [key, sums.read(cell)]));
    },
  };
}
