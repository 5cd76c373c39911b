import { Grouping, type PairSums, addColumn, readExact } from '../add-packs.ts';
import { GroupTable } from '../group-table.ts';
import { callForm, encodePack, type Pack, type PackName } from '../pack.ts';
import type { ValueRow } from '../../sql-values.ts';

/** The most groups of a pack: reading more would take longer than the figures of a question allow. */
const groupsMax = 50_000;

/** 0: whole; 1: without user, key and model; 2: too many groups for a pack. */
type PackKind = 0 | 1 | 2;
export type MergedPack = { readonly form: PackKind; readonly bytes: Uint8Array<ArrayBuffer> };

const columns = Object.values(callForm.names);
const narrowFrom = columns.indexOf('team_ref');
const words = callForm.sums.length * 2;
const noBytes = (): MergedPack => ({ form: 2, bytes: new Uint8Array() });

/**
 * The sums of some packs as one. With too many groups it lacks user, key and model; teams and sets of tags are bounded.
 * @param isNarrow whether one of them lacks these names
 */
export function mergePacks(packs: readonly Pack[], isNarrow: boolean): MergedPack {
  const table = new GroupTable(callForm);
  const numbered = packs.map((pack) => ({ groups: table.numbersOf(pack), sums: pack.sums }));
  const nameOf = (group: number, column: number): PackName => table.nameOf(group, column);
  for (const form of isNarrow || table.size > groupsMax ? ([1] as const) : ([0, 1] as const)) {
    const keyOf = (group: number): readonly PackName[] => columns.map((_, at) => (form === 1 && at < narrowFrom ? 0 : nameOf(group, at)));
    const grouping = new Grouping(table, keyOf);
    const places = grouping.places();
    if (grouping.keys.length > groupsMax) continue;
    const sums: PairSums = new Float64Array(grouping.keys.length * words);
    for (const { groups, sums: added } of numbered) {
      const at = Int32Array.from(groups, (group) => (places[group] ?? 0) * words);
      for (const [index, column] of added.entries()) addColumn(sums, at, index * 2, column);
    }
    const rows = grouping.keys.map((key, place): ValueRow => [
      ...key,
      ...callForm.sums.map((_, index) => readExact(sums, place * words + index * 2)),
    ]);
    if (rows.every(fits)) return { form, bytes: encodePack(callForm, rows) };
  }
  return noBytes();
}

/** Whether all sums are integers of 64 bits. */
function fits(row: ValueRow): boolean {
  return row.every((value) => typeof value !== 'bigint' || BigInt.asIntN(64, value) === value);
}
