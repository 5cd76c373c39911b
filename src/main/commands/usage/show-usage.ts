import type { UnpricedModel } from '../../../billing/ledger/ledger-store.ts';
import type { BillingRecords } from '../../../billing/statistics/billing-record.ts';
import { bucketsBetween } from '../../../billing/statistics/buckets-between.ts';
import { formatBucketTime } from '../../../billing/statistics/format-bucket-time.ts';
import { type Granularity, granularityNames } from '../../../billing/statistics/granularity.ts';
import { StatisticsRefusedError, createStatistics } from '../../../billing/statistics/statistics.ts';
import { billColumns } from '../../../monitor/tables/table.ts';
import { createCsvText } from '../../../monitor/tables/table-text.ts';
import { systemClock } from '../../../platform/clock.ts';
import { loadConfig } from '../../config/load-config.ts';
import { pricesOf } from '../../config/prices-schema.ts';
import { creditUnitOf } from '../../config/read-credit-unit.ts';
import { type Environment, StartError } from '../../environment.ts';
import { openDatabase } from '../../assembly/open-data-directory.ts';
import { printTexts } from './print-texts.ts';
import { type Span, readGranularity, readSpan } from './read-span.ts';
import { renderUsage } from './render-usage.ts';
import { type Terminal, inert } from './terminal-text.ts';

/** The options of the command line. */
export type UsageOptions = {
  readonly by: string;
  readonly from?: string;
  readonly to?: string;
  readonly user?: string;
  readonly token?: string;
  readonly model?: string;
  readonly json?: true;
  readonly csv?: true;
};

/** Up to this number of buckets, a chart shows empty ones too; in a longer span, only buckets with calls. */
const chartBucketsMax = 100;
const pipedColumns = 100;
/** Models without a price that are read. */
const unpricedMax = 1000;

/** Prints statistics as a table with bars, as JSON or as CSV. @throws StartError */
export async function showUsage(environment: Environment, options: UsageOptions): Promise<void> {
  if (options.json === true && options.csv === true) throw new StartError('--json and --csv exclude each other');
  const { config } = loadConfig(environment.configPath, environment.variable);
  const timeZone = config.timeZone ?? 'UTC';
  const granularity = readGranularity(options.by);
  const span = readSpan(options, granularity, timeZone, systemClock.nowMs());
  const { records, unpriced } = await queryRecords(environment, options, granularity, span, timeZone);
  if (options.json === true) return await printTexts(process.stdout, [JSON.stringify([...records], undefined, 2), '\n']);
  if (options.csv === true) return await printTexts(process.stdout, createCsvText(billColumns, [[...records]]));
  const title = describe(options, granularity, span, timeZone);
  const unit = creditUnitOf(pricesOf(config.prices));
  const usage = { records, buckets: listBuckets(granularity, span, timeZone), title, unit, unpriced };
  return await printTexts(process.stdout, [renderUsage(usage, findTerminal(environment))]);
}

async function queryRecords(
  environment: Environment,
  { user, token, model }: UsageOptions,
  granularity: Granularity,
  span: Span,
  timeZone: string,
): Promise<{ readonly records: BillingRecords; readonly unpriced: readonly UnpricedModel[] }> {
  const store = await openDatabase(environment, { readOnly: true });
  try {
    const names = { ...(token === undefined ? {} : { tokenName: token }), ...(model === undefined ? {} : { modelName: model }) };
    const ofUser = user === undefined ? {} : { userName: user };
    const records = await createStatistics({ store, timeZone }).query({ granularity, ...span, ...names }, ofUser);
    const times = { startMs: span.startSeconds * 1000, endMs: span.endSeconds * 1000 };
    const unpriced = await store.listUnpriced({ ...times, ...ofUser, limit: unpricedMax });
    return { records, unpriced: model === undefined ? unpriced : unpriced.filter(({ requestedModel }) => requestedModel === model) };
  } catch (error) {
    if (error instanceof StatisticsRefusedError) throw new StartError(error.message, { cause: error });
    throw error;
  } finally {
    await store.close();
  }
}

/** The starts of all buckets of a short span; empty for a long span, of which only buckets with calls are shown. */
function listBuckets(granularity: Granularity, span: Span, timeZone: string): readonly string[] {
  const buckets = bucketsBetween({ granularity, ...span, timeZone, bucketsMax: 100_000 });
  return buckets.length > chartBucketsMax ? [] : buckets.map(({ startSeconds }) => formatBucketTime(startSeconds, timeZone));
}

function describe({ user, token, model }: UsageOptions, granularity: Granularity, span: Span, timeZone: string): string {
  const at = (seconds: number): string => formatBucketTime(seconds, timeZone);
  const filters = [
    ['user', user],
    ['key', token],
    ['model', model],
  ].flatMap(([what, name]) => (name === undefined ? [] : [`${what} ${inert(name)}`]));
  return [`usage by ${granularityNames[granularity]}, ${at(span.startSeconds)} to ${at(span.endSeconds)} ${timeZone}`, ...filters].join(
    ', ',
  );
}

function findTerminal({ variable }: Environment): Terminal {
  const isTerminal = process.stdout.isTTY;
  return { columns: isTerminal ? process.stdout.columns : pipedColumns, isRich: isTerminal && variable('NO_COLOR') === undefined };
}
