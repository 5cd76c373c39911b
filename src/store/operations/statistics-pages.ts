import type { StatisticsQuery } from '../../billing/statistics/statistics-store.ts';
import { StoreError } from '../store-error.ts';
import type { Database } from './database.ts';
import type { SqlParameter, ValueRow } from './sql-values.ts';
import { sumColumns } from './roll-up-columns.ts';
import { countTouched } from './statistics-counts.ts';
import { type BucketPositions, sumNames, sumsOf, unitsOf } from './statistics-parts.ts';
import { type Piece, type StatisticsPlan, planStatistics } from './statistics-plan.ts';
import { type NameRange, type Names, filterNames, sourceNames, sources } from './statistics-sources.ts';

/** Rows of a page that are read without adding up. */
const pageRows = 2000;
/** Rows that are added up for one page: this takes about 50 ms. */
const touchedRowsMax = 30_000;
/** Units of time that are probed for the end of a page in a large bucket. */
const probesMax = 8;
const probeRowsMin = 64;

/** The beginning of the next page: a bucket, and names after which it continues there. */
type Position = { readonly position: number; readonly after?: Names };

/**
 * The records of a query, page by page in order, in memory that does not grow with their number. Each page uses
 * statements of its own that read a bounded number of rows: nothing stays open between pages, and each page may be read
 * from another snapshot.
 */
export class StatisticsPages {
  readonly #query: StatisticsQuery;
  readonly #useDays: boolean;
  #plan: StatisticsPlan | undefined;
  #position: Position = { position: 0 };
  /** How many buckets are added up for the next page. */
  #width = 1;

  /** @param useDays false reads nothing from days, so that it does not matter which have sums */
  constructor(query: StatisticsQuery, useDays = true) {
    this.#query = query;
    this.#useDays = useDays;
  }

  /** Makes the next page plan again: a plan is valid for one snapshot. */
  forgetPlan(): void {
    this.#plan = undefined;
  }

  /** The next records: bucket, three names, six sums and the amount, as packRows expects them. Undefined at the end. */
  async next(database: Database): Promise<readonly ValueRow[] | undefined> {
    this.#plan ??= await planStatistics(database, this.#query, this.#useDays);
    const plan = this.#plan;
    while (this.#position.position < plan.buckets.length) {
      const runEnd = plan.runEnds[this.#position.position];
      const rows = runEnd === undefined ? await this.#addUp(database, plan) : await this.#readRun(database, plan, runEnd);
      if (rows.length > 0) return rows;
    }
    return undefined;
  }

  /** Reads rows of a roll-up that are records without adding up. */
  async #readRun(database: Database, plan: StatisticsPlan, runEnd: number): Promise<readonly ValueRow[]> {
    const { position, after } = this.#position;
    const [first, last] = [firstPiece(plan, position), firstPiece(plan, runEnd - 1)];
    const source = sources[first.source];
    const filter = filterNames(source, this.#query);
    const begin =
      after === undefined
        ? `source.${source.unit} >= ?`
        : `(source.${source.unit}, source.user_name, source.${source.tokenName}, source.${source.modelName}) > (?, ?, ?, ?)`;
    const counts = sumColumns.filter((column) => column !== 'amount_nano_usd').map(database.fragments.fastNumber);
    const bucket = `source.${source.unit} * ${source.unitSeconds ?? 60}`;
    const sql = `select ${database.fragments.fastNumber(bucket)}, user_name, token_name, model_name, ${counts.join(', ')}, amount_nano_usd
      from ${source.table} as source
      where ${begin} and source.${source.unit} < ? ${filter.conditions}
      order by source.${source.unit}, user_name, token_name, model_name
      limit ?`;
    const rows = await database.rows(sql, first.from, ...(after ?? []), last.until, ...filter.parameters, pageRows);
    const lastRow = rows.at(-1);
    if (lastRow === undefined || rows.length < pageRows) this.#position = { position: runEnd };
    else this.#position = { position: positionOf(plan, Number(lastRow[0])), after: namesOf(lastRow) };
    return rows;
  }

  /** Adds up as many buckets as have few rows, or the next names of a bucket with many rows. */
  async #addUp(database: Database, plan: StatisticsPlan): Promise<readonly ValueRow[]> {
    const { position, after } = this.#position;
    if (after !== undefined) return await this.#addUpPart(database, plan);
    let width = Math.min(this.#width, plan.buckets.length - position);
    const isRun = plan.runEnds.slice(position, position + width).findIndex((end) => end !== undefined);
    if (isRun > 0) width = isRun;
    let touched = await countTouched(database, plan, { from: position, until: position + width }, this.#query, touchedRowsMax);
    while (touched > touchedRowsMax && width > 1) {
      width = Math.ceil(width / 4);
      touched = await countTouched(database, plan, { from: position, until: position + width }, this.#query, touchedRowsMax);
    }
    if (touched > touchedRowsMax) return await this.#addUpPart(database, plan);
    this.#width = touched < touchedRowsMax / 2 ? width * 2 : width;
    this.#position = { position: position + width };
    return await addUpBuckets(database, plan, { from: position, until: position + width }, this.#query, {});
  }

  async #addUpPart(database: Database, plan: StatisticsPlan): Promise<readonly ValueRow[]> {
    const { position, after } = this.#position;
    const until = await findUntil(database, plan, position, this.#query, after);
    this.#width = 1;
    this.#position = until === undefined ? { position: position + 1 } : { position, after: until };
    return await addUpBuckets(database, plan, { from: position, until: position + 1 }, this.#query, { after, until });
  }
}

function firstPiece({ pieces }: StatisticsPlan, position: number): Piece {
  const piece = pieces[position]?.[0];
  if (piece === undefined) throw new StoreError('internal', 'A bucket without parts cannot be read.');
  return piece;
}

/** The position of the bucket that begins at a moment. */
function positionOf({ buckets }: StatisticsPlan, startSeconds: number): number {
  let [low, high] = [0, buckets.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((buckets[middle]?.startSeconds ?? Infinity) <= startSeconds) low = middle;
    else high = middle - 1;
  }
  return low;
}

const namesOf = (row: readonly (SqlParameter | undefined)[], at = 1): Names => [String(row[at]), String(row[at + 1]), String(row[at + 2])];

/**
 * Names up to which a part of a bucket has few rows in each of its units: the smallest name that any probed unit has
 * after a number of rows. Undefined if few rows remain.
 */
async function findUntil(
  database: Database,
  plan: StatisticsPlan,
  position: number,
  query: StatisticsQuery,
  after: Names | undefined,
): Promise<Names | undefined> {
  const units = sourceNames
    .filter((name) => name !== 'calls')
    .flatMap((name) => unitsOf(plan, { from: position, until: position + 1 }, name).map(([, unit]) => ({ name, unit })));
  const rows = Math.max(probeRowsMin, Math.floor(touchedRowsMax / Math.max(1, units.length)));
  const step = Math.max(1, Math.floor(units.length / probesMax));
  let until: Names | undefined;
  for (let at = 0; at < units.length; at += step) {
    const { name, unit } = units[at] ?? { name: 'minutes', unit: 0 };
    const source = sources[name];
    const filter = filterNames(source, query, { after, until });
    const sql = `select user_name, token_name, model_name from ${source.table} as source where source.${source.unit} = ? ${filter.conditions}
      order by user_name, token_name, model_name limit 1 offset ?`;
    const [found] = await database.rows(sql, unit, ...filter.parameters, rows);
    if (found !== undefined) until = namesOf(found, 0);
  }
  return until;
}

async function addUpBuckets(
  database: Database,
  plan: StatisticsPlan,
  positions: BucketPositions,
  query: StatisticsQuery,
  names: NameRange,
): Promise<readonly ValueRow[]> {
  const sums = sumsOf(database, plan, positions, query, names);
  if (sums === undefined) return [];
  const { realSum } = database.fragments;
  const sql = `select bucket, user_name, token_name, model_name, ${sumNames.map((column) => `${realSum(column)} as ${column}`).join(', ')},
      sum(call_count) as call_count, sum(amount_nano_usd) as amount_nano_usd
    from (${sums.parts}) as parts
    group by bucket, user_name, token_name, model_name
    order by bucket, user_name, token_name, model_name`;
  return await database.rows(sql, ...sums.parameters);
}
