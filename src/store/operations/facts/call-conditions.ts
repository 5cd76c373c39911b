import { callFlags, endCodes, keyLabel, type NameKind } from '../../../billing/calls/call-fact.ts';
import type { UsageFilter, UsageRead } from '../../../billing/usage/usage-store.ts';
import type { CallFilter, KeyChoice, UserScope } from '../../../billing/calls/call-facts-store.ts';
import type { Database } from '../database.ts';
import type { SqlValue } from '../sql-values.ts';
import { refInSpans, spannedColumns } from './call-spans.ts';
import type { NameReader } from './name-reader.ts';

/** Conditions with their parameters. */
export type Conditions = { readonly sql: string; readonly parameters: readonly SqlValue[] };

/**
 * A filter as the store reads it: for each stream an index has its rows in the order of time, or spans of a name have
 * them, and together they have all rows that `rest` selects from.
 */
export type CallSelection = { readonly streams: readonly CallStream[]; readonly rest: Conditions };

/** @param spans the name whose spans have the rows; without it an index has them */
export type CallStream = Conditions & { readonly spans?: number };

/** More streams than this cost more than they save. */
const streamsMax = 8;

/**
 * Finds the numbers of all names of a filter. Undefined if no call can match.
 * @param onlyCalls without the rows of parts
 */
export async function selectCallsOf(
  database: Database,
  names: NameReader,
  filter: CallFilter,
  scope: UserScope,
  onlyCalls = true,
): Promise<CallSelection | undefined> {
  const chosen = await resolveNames(database, names, filter, scope);
  if (chosen === undefined || filter.ends?.length === 0) return undefined;
  const onlyFailed = filter.ends !== undefined && !filter.ends.includes('finished');
  const narrow = spannedColumns.find((column) => (chosen.get(column)?.length ?? Infinity) <= streamsMax);
  const streams = (narrow === undefined ? undefined : chosen.get(narrow))?.map((number) => ({
    sql: `${narrow} = ?`,
    parameters: [number],
    ...(database.fragments.hasCallSpans && { spans: refInSpans(narrow ?? 'user_ref', number) }),
  }));
  const conditions: Conditions[] = onlyCalls ? [{ sql: 'parent_id is null', parameters: [] }] : [];
  for (const [column, numbers] of chosen) if (column !== narrow) conditions.push(isOneOf(column, numbers));
  conditions.push(...(await selectTags(database, names, filter)));
  conditions.push(...describeRest(filter));
  const whole: CallStream = onlyFailed ? { sql: 'whole_end <> 0', parameters: [] } : { sql: '1 = 1', parameters: [] };
  return {
    streams: streams ?? [whole],
    rest: {
      sql: conditions.map(({ sql }) => sql).join(' and ') || '1 = 1',
      parameters: conditions.flatMap(({ parameters }) => parameters),
    },
  };
}

/** The same for rows that are added up, which may be sums of service. Undefined if no row can match. */
export async function selectSummed(
  database: Database,
  names: NameReader,
  { filter, excluded = [], scope }: Pick<UsageRead, 'filter' | 'excluded' | 'scope'>,
): Promise<CallStream | undefined> {
  const chosen = await resolveNames(database, names, filter, scope);
  if (chosen === undefined) return undefined;
  const narrow = spannedColumns.find((column) => chosen.get(column)?.length === 1);
  const [named] = (narrow === undefined ? undefined : chosen.get(narrow)) ?? [];
  const conditions = [...chosen].map(([column, numbers]) => {
    const [only] = numbers.length === 1 ? numbers : [];
    // With one name the index of the name and the time may be best.
    return only === undefined ? isOneOf(column, numbers) : { sql: `${column} = ?`, parameters: [only] };
  });
  conditions.push(...(await selectTags(database, names, filter)));
  if (filter.ends !== undefined) {
    conditions.push(
      isOneOf(
        'end_code',
        filter.ends.map((end) => endCodes[end]),
      ),
    );
  }
  conditions.push(...(await excludeSummed(database, names, excluded)));
  return {
    sql: conditions.map(({ sql }) => sql).join(' and ') || '1 = 1',
    parameters: conditions.flatMap(({ parameters }) => parameters),
    ...(database.fragments.hasCallSpans && narrow !== undefined && named !== undefined && { spans: refInSpans(narrow, named) }),
  };
}

/** One condition for each filter that takes rows away. Names that no call has take none away. */
async function excludeSummed(database: Database, names: NameReader, excluded: readonly UsageFilter[]): Promise<readonly Conditions[]> {
  const all: Conditions[] = [];
  for (const { ends, tags, ...named } of excluded) {
    const chosen = await resolveNames(database, names, named, 'all');
    if (chosen === undefined) continue;
    const conditions = [...chosen].map(([column, numbers]) => isOneOf(column, numbers));
    conditions.push(...(await selectTags(database, names, tags === undefined ? {} : { tags })));
    if (ends !== undefined) {
      const codes = ends.map((end) => endCodes[end]);
      conditions.push(isOneOf('end_code', codes));
    }
    if (conditions.length > 0) all.push(exceptAll(conditions));
  }
  return all;
}

/** Takes the rows away for which all conditions hold. */
export function exceptAll(conditions: readonly Conditions[]): Conditions {
  return {
    sql: `not (${conditions.map(({ sql }) => sql).join(' and ')})`,
    parameters: conditions.flatMap(({ parameters }) => parameters),
  };
}

/** Lists of this many values share a statement with shorter ones. */
const listSizes = [1, 4, 16, 64, 256];

/** The plus keeps the database from reading by another index than that of the stream. */
function isOneOf(column: string, values: readonly number[]): Conditions {
  if (values.length === 0) return { sql: '1 = 0', parameters: [] };
  const size = listSizes.find((length) => length >= values.length) ?? values.length;
  const parameters = Array.from({ length: size }, (_, index) => values[Math.min(index, values.length - 1)] ?? 0);
  return { sql: `+${column} in (${parameters.map(() => '?').join(', ')})`, parameters };
}

/** The numbers of the names of a filter by the columns of call_facts. Undefined if no call can match. */
export async function resolveNames(
  database: Database,
  names: NameReader,
  filter: Omit<UsageFilter, 'ends' | 'tags'> & Pick<CallFilter, 'servedModels' | 'errorCodes'>,
  scope: UserScope,
): Promise<ReadonlyMap<string, readonly number[]> | undefined> {
  const chosen = new Map<string, readonly number[]>();
  const add = async (column: string, kind: NameKind, values: readonly string[] | undefined): Promise<boolean> => {
    if (values === undefined) return true;
    const numbers: number[] = [];
    // 0 stands for no name.
    for (const value of values) numbers.push(...(value === '' ? [0] : await names.numbersOf(database, kind, 'value', value)));
    chosen.set(column, [...new Set(numbers)]);
    return numbers.length > 0;
  };
  const teams = filter.teams === undefined ? undefined : await findTeams(database, names, filter.teams);
  if (teams !== undefined) chosen.set('team_ref', teams);
  const users = scope === 'all' ? filter.users : (filter.users ?? scope).filter((name) => scope.includes(name));
  const keys = filter.keys === undefined ? undefined : await findKeys(database, names, filter.keys);
  if (keys !== undefined) chosen.set('key_ref', keys);
  const found =
    (await add('user_ref', 'user', users)) &&
    (await add('model_ref', 'model', filter.models)) &&
    (await add('upstream_ref', 'upstream', filter.upstreams)) &&
    (await add('served_ref', 'servedModel', filter.servedModels)) &&
    (await add('upstream_model_ref', 'upstreamModel', filter.upstreamModels)) &&
    (await add('interface_ref', 'interface', filter.interfaces)) &&
    (await add('error_ref', 'error', filter.errorCodes));
  return found && keys?.length !== 0 && teams?.length !== 0 ? chosen : undefined;
}

async function findTeams(database: Database, names: NameReader, teams: readonly string[]): Promise<readonly number[]> {
  const numbers = new Set<number>();
  for (const team of teams)
    for (const number of team === '' ? [0] : await names.numbersOf(database, 'team', 'label', team)) numbers.add(number);
  return [...numbers];
}

/** Sets of tags are many, so they are selected in the database. */
async function selectTags(database: Database, names: NameReader, { tags }: Pick<CallFilter, 'tags'>): Promise<readonly Conditions[]> {
  const conditions: Conditions[] = [];
  for (const [name, values] of Object.entries(tags ?? {})) {
    const nameNumber = await names.tagNumber(database, name);
    const either: Conditions[] = [];
    const numbers: number[] = [];
    for (const value of values) {
      const number = value === '' ? undefined : await names.tagNumber(database, name, value);
      if (number !== undefined) numbers.push(number);
      if (value !== '') continue;
      if (nameNumber === undefined) either.push({ sql: '1 = 1', parameters: [] });
      else either.push({ sql: '+tags_ref not in (select tags_ref from fact_tags where name_ref = ?)', parameters: [nameNumber] });
    }
    if (numbers.length > 0) {
      const isValue = isOneOf('value_ref', numbers);
      either.push({ sql: `+tags_ref in (select tags_ref from fact_tags where ${isValue.sql})`, parameters: isValue.parameters });
    }
    const sql = either.length === 0 ? '1 = 0' : `(${either.map((each) => each.sql).join(' or ')})`;
    conditions.push({ sql, parameters: either.flatMap((each) => each.parameters) });
  }
  return conditions;
}

async function findKeys(database: Database, names: NameReader, keys: readonly KeyChoice[]): Promise<readonly number[]> {
  const numbers = new Set<number>();
  for (const key of keys) {
    const found =
      'keyId' in key
        ? await names.numbersOf(database, 'key', 'value', key.keyId)
        : await names.numbersOf(database, 'key', 'label', keyLabel(key.userName, key.keyName));
    for (const number of found) numbers.add(number);
  }
  return [...numbers];
}

function describeRest(filter: CallFilter): readonly Conditions[] {
  const conditions: Conditions[] = [];
  const add = (sql: string, ...parameters: SqlValue[]): void => void conditions.push({ sql, parameters });
  if (filter.ends !== undefined)
    conditions.push(
      isOneOf(
        'whole_end',
        filter.ends.map((end) => endCodes[end]),
      ),
    );
  if (filter.statusClasses !== undefined) conditions.push(isOneOf('(status / 100)', filter.statusClasses));
  let [wanted, unwanted, anyOf] = [0, 0, 0];
  for (const [flag, isSet] of Object.entries(filter.flags ?? {})) {
    const bit = callFlags[flag as keyof typeof callFlags];
    if (isSet) wanted |= bit;
    else unwanted |= bit;
  }
  for (const note of filter.notes ?? []) anyOf |= callFlags[note];
  if (wanted !== 0 || unwanted !== 0) add('flags & ? = ?', wanted | unwanted, wanted);
  if (anyOf !== 0) add('flags & ? <> 0', anyOf);
  const { amountNanoUsd, tokens, durationMs, firstByteMs } = filter;
  // No amount of one call has more than 19 digits, and thousands of USD have an own column.
  const amount = '(whole_kusd * 1000000000000 + whole_nano)';
  if (amountNanoUsd?.min !== undefined) add(`${amount} >= ?`, amountNanoUsd.min);
  if (amountNanoUsd?.max !== undefined) add(`${amount} <= ?`, amountNanoUsd.max);
  for (const [column, range] of [
    ['whole_prompt + whole_completion', tokens],
    ['use_time_ms', durationMs],
    ['first_byte_ms', firstByteMs],
  ] as const) {
    if (range?.min !== undefined) add(`${column} >= ?`, range.min);
    if (range?.max !== undefined) add(`${column} <= ?`, range.max);
  }
  return conditions;
}
