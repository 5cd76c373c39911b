import { listUnpricedModels } from '../../../admin/resources/disputes/dispute-operations.ts';
import { listUsageRecords } from '../../../admin/resources/usage/records-operation.ts';
import type { AdminService } from '../../../admin/service/admin-service.ts';
import { exactNumber } from '../../../billing/statistics/exact-number.ts';
import type { BillingRecord } from '../../../billing/statistics/billing-record.ts';
import { bucketsBetween } from '../../../billing/statistics/buckets-between.ts';
import { formatBucketTime } from '../../../billing/statistics/format-bucket-time.ts';
import { type Granularity, granularityNames } from '../../../billing/statistics/granularity.ts';
import { billColumns } from '../../../monitor/tables/table.ts';
import { createCsvText } from '../../../monitor/tables/table-text.ts';
import { systemClock } from '../../../platform/clock.ts';
import { type Environment, StartError } from '../../environment.ts';
import { type RemoteOption, withService } from '../remote/with-service.ts';
import { printTexts, readTexts } from './print-texts.ts';
import { type Span, readGranularity, readSpan } from './read-span.ts';
import { renderUsage, type UnpricedCount } from './render-usage.ts';
import { instantOf, readStatisticsZone } from './statistics-zone.ts';
import { type Terminal, inert } from './terminal-text.ts';

/** The options of the command line. */
export type UsageOptions = RemoteOption & {
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
export async function showUsage(environment: Environment, { remote, ...options }: UsageOptions): Promise<void> {
  if (options.json === true && options.csv === true) throw new StartError('--json and --csv exclude each other');
  const granularity = readGranularity(options.by);
  const place = { reads: true, readsZone: true, ...(remote !== undefined && { remote }) };
  const { timeZone, unit, span, records, unpriced } = await withService(environment, place, async (service) => {
    const zone = await readStatisticsZone(service);
    const asked = readSpan(options, granularity, zone.timeZone, systemClock.nowMs());
    return { ...zone, span: asked, ...(await queryRecords(service, options, granularity, asked)) };
  });
  if (options.json === true) return await printTexts(process.stdout, [JSON.stringify(records, undefined, 2), '\n']);
  if (options.csv === true) return await printTexts(process.stdout, createCsvText(billColumns, [records]));
  const title = describe(options, granularity, span, timeZone);
  const usage = { records, buckets: listBuckets(granularity, span, timeZone), title, unit, unpriced };
  return await printTexts(process.stdout, [renderUsage(usage, findTerminal(environment))]);
}

type Answered = { readonly records: readonly BillingRecord[]; readonly unpriced: readonly UnpricedCount[] };

async function queryRecords(
  service: AdminService,
  { user, token, model, json, csv }: UsageOptions,
  granularity: Granularity,
  span: Span,
): Promise<Answered> {
  const times = { from: instantOf(span.startSeconds), to: instantOf(span.endSeconds) };
  const ofUser = user === undefined ? {} : { user };
  const filter = { ...ofUser, ...(token !== undefined && { key: token }), ...(model !== undefined && { model }) };
  const records: BillingRecord[] = [];
  for await (const line of readLines(
    service.stream(listUsageRecords, { query: { ...times, granularity: granularityNames[granularity], ...filter } }),
  ))
    records.push(parseRecord(line));
  if (json === true || csv === true) return { records, unpriced: [] };
  const { items } = (await service.call(listUnpricedModels, { query: { ...times, ...ofUser, limit: unpricedMax } })).body;
  return { records, unpriced: model === undefined ? items : items.filter((each) => each.model === model) };
}

async function* readLines(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of readTexts(pieces)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') throw new StartError('the console did not send the whole answer; run the command again');
}

/** A record whose amount keeps all its digits. */
function parseRecord(line: string): BillingRecord {
  const amount = /"totalAmount":(-?[\d.]+)/.exec(line)?.[1];
  if (amount === undefined) throw new StartError('the console answered something else than records of usage');
  // Written by the operation.
  return { ...(JSON.parse(line) as BillingRecord), totalAmount: exactNumber(amount) };
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
