import { tagOf, type UsageRead } from '../../../../billing/usage/usage-store.ts';
import type { Database } from '../../database.ts';
import { resolveNames } from '../../facts/call-conditions.ts';
import type { NameReader } from '../../facts/name-reader.ts';
import { readInteger } from '../../read-column.ts';
import { Grouping } from '../add-packs.ts';
import type { PackReading } from '../kept-packs.ts';
import { callForm } from '../pack.ts';

/** The values of one tag by sets of tags; sets that are absent do not have the tag. */
type TagValues = ReadonlyMap<number, number>;

/** A condition on a column of a pack, or on the value of a tag: it must be one of the numbers. */
type Condition = {
  readonly column: string;
  readonly values: TagValues | undefined;
  readonly numbers: ReadonlySet<number>;
};

/** How the groups of packs of calls count for a question. */
export type GroupSelection = {
  /** Whether it needs users, keys or models, which packs of the narrow form do not have. */
  readonly needsNames: boolean;
  /** @param columns those that the rows of the question are grouped by */
  readonly groupingOf: (reading: PackReading, columns: readonly string[]) => Grouping;
};

const order = Object.values(callForm.names);
const tagsColumn = 'tags_ref';
const narrowColumns: readonly string[] = ['team_ref', tagsColumn];

/** Reads what a question selects and groups by: the same as the conditions on single calls. */
export async function selectGroups(database: Database, names: NameReader, read: UsageRead): Promise<GroupSelection> {
  const selected = (await conditionsOf(database, names, read)) ?? [];
  const excluded: (readonly Condition[])[] = [];
  for (const filter of read.excluded ?? []) {
    const conditions = await conditionsOf(database, names, { filter, scope: 'all' });
    if (conditions !== undefined && conditions.length > 0) excluded.push(conditions);
  }
  const tagColumns = new Map<string, TagValues>();
  for (const dimension of read.groupBy) {
    const tag = tagOf(dimension);
    if (tag !== undefined) tagColumns.set(`tag_${tagColumns.size}`, await readTagValues(database, names, tag));
  }
  const isNarrow = (column: string): boolean => narrowColumns.includes(column);
  const needsNames =
    read.groupBy.some((dimension) => dimension !== 'team' && tagOf(dimension) === undefined) ||
    [selected, ...excluded].some((conditions) => conditions.some(({ column }) => !isNarrow(column)));
  return {
    needsNames,
    groupingOf: ({ table }, columns) => {
      const numberAt = (group: number, column: string): number => Number(table.nameOf(group, order.indexOf(column)));
      const holds = (group: number, { column, values, numbers }: Condition): boolean => {
        const number = numberAt(group, column);
        return numbers.has(values === undefined ? number : (values.get(number) ?? 0));
      };
      const isSelected = (group: number): boolean =>
        selected.every((condition) => holds(group, condition)) &&
        !excluded.some((conditions) => conditions.every((condition) => holds(group, condition)));
      const readers = columns.map((column) => {
        const values = tagColumns.get(column);
        return (group: number): number => (values === undefined ? numberAt(group, column) : (values.get(numberAt(group, tagsColumn)) ?? 0));
      });
      return new Grouping(table, (group) => (isSelected(group) ? readers.map((readNumber) => readNumber(group)) : undefined));
    },
  };
}

/** Undefined if no call can match. */
async function conditionsOf(
  database: Database,
  names: NameReader,
  { filter, scope }: Pick<UsageRead, 'filter' | 'scope'>,
): Promise<readonly Condition[] | undefined> {
  const { tags, ends: _, ...named } = filter;
  const conditions: Condition[] = [];
  const chosen = await resolveNames(database, names, named, scope);
  if (chosen === undefined) return undefined;
  for (const [column, numbers] of chosen) conditions.push({ column, values: undefined, numbers: new Set(numbers) });
  for (const [tag, texts] of Object.entries(tags ?? {})) {
    const numbers = new Set<number>();
    for (const text of texts) {
      const number = text === '' ? 0 : await names.tagNumber(database, tag, text);
      if (number !== undefined) numbers.add(number);
    }
    conditions.push({ column: tagsColumn, values: await readTagValues(database, names, tag), numbers });
  }
  return conditions;
}

async function readTagValues(database: Database, names: NameReader, tag: string): Promise<TagValues> {
  const name = await names.tagNumber(database, tag);
  if (name === undefined) return new Map();
  const rows = await database.all('select tags_ref, value_ref from fact_tags where name_ref = ?', name);
  return new Map(rows.map((row) => [readInteger(row, tagsColumn), readInteger(row, 'value_ref')]));
}
