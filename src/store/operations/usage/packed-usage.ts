import type { UsageRank, UsageSums } from '../../../billing/usage/usage-store.ts';
import type { Database } from '../database.ts';
import type { StatisticsPlan } from '../statistics-plan.ts';
import { Grouping, joinKey, type NameColumn, type PackFilter, PackRanks, PackSums } from './add-packs.ts';
import type { KeptPack, KeptPacks, PackList, PackOfDay } from './kept-packs.ts';

/** Sums of the days of a question that have packs, in one snapshot. */
export type PackedUsage = {
  /** The sums of all groups together by bucket and, for columns, the sum that ranks each group. */
  readonly survey: (
    columns: readonly NameColumn[],
    rankBy: UsageRank | undefined,
  ) => Promise<{ readonly totals: ReadonlyMap<number, UsageSums>; readonly ranks: readonly Rank[] }>;
  /** The sums of given groups by bucket, by the joined values of their columns. */
  readonly sum: (columns: readonly NameColumn[], keys: readonly Key[]) => Promise<ReadonlyMap<string, ReadonlyMap<number, UsageSums>>>;
};

type Key = readonly string[];
type Rank = { readonly key: Key; readonly sum: bigint };
type Bucketed = PackOfDay & { readonly position: number };

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
  const list = await kept.list(database, from, until);
  if (list.days.length === 0) return undefined;
  const packOf = new Map(list.days.map((one) => [one.day, one]));
  const ends = new Map(plan.dayBounds.map((bound, index) => [bound / 60, (plan.dayBounds[index + 1] ?? bound) / 60]));
  const taken: Bucketed[] = [];
  const pieces = plan.pieces.map((parts, position) =>
    parts.flatMap((piece) => {
      if (piece.source !== 'days') return [piece];
      const rest: { source: 'days'; from: number; until: number }[] = [];
      for (let day = piece.from; day < piece.until; day = ends.get(day) ?? piece.until) {
        const end = ends.get(day) ?? piece.until;
        const pack = packOf.get(day);
        const last = rest.at(-1);
        if (pack !== undefined) taken.push({ ...pack, position });
        else if (last?.until === day) last.until = end;
        else rest.push({ source: 'days', from: day, until: end });
      }
      return rest;
    }),
  );
  return { plan: { ...plan, pieces, runEnds: pieces.map(() => undefined) }, packed: addUp(list, taken, filter, plan.buckets.length) };
}

function addUp(list: PackList, taken: readonly Bucketed[], filter: PackFilter, buckets: number): PackedUsage {
  const positions = new Map(taken.map(({ number, position }) => [number, position]));
  const readAll = async (add: (position: number, pack: KeptPack) => void): Promise<void> => {
    for await (const [{ number }, pack] of list.read(taken)) add(positions.get(number) ?? 0, pack);
  };
  return {
    survey: async (columns, rankBy) => {
      const totals = new PackSums(new Grouping(list.table, [], filter), () => 0, { size: 1, buckets });
      const ranks =
        rankBy === undefined || rankBy === 'failed' ? undefined : new PackRanks(new Grouping(list.table, columns, filter), rankBy);
      await readAll((position, pack) => {
        totals.add(position, pack);
        ranks?.add(pack);
      });
      return { totals: totals.read(0), ranks: ranks?.read() ?? [] };
    },
    sum: async (columns, keys) => {
      const cells = new Map(keys.map((key, cell) => [joinKey(key), cell]));
      const sums = new PackSums(new Grouping(list.table, columns, filter), (key) => cells.get(joinKey(key)), {
        size: keys.length,
        buckets,
      });
      await readAll((position, pack) => sums.add(position, pack));
      return new Map([...cells].map(([key, cell]) => [key, sums.read(cell)]));
    },
  };
}
