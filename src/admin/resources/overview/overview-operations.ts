import { type Static, Type } from 'typebox';

import { percentileOf } from '../../../billing/calls/duration-histogram.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { queryUsage } from '../../../billing/usage/query-usage.ts';
import { addUsage, type UsageAnswer, type UsageQuestion } from '../../../billing/usage/usage-question.ts';
import type { UsageSums } from '../../../billing/usage/usage-store.ts';
import type { NodeReport } from '../../../control/nodes/node-state.ts';
import { instant, moneySchema, nullable, record } from '../../contract/values.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { shareAnswer } from '../../share-answers.ts';
import { attentionSchema, type AttentionServices, readAttention } from '../attention/attention-operations.ts';
import { type ControlServices, isSilent, watchNodes } from '../nodes/live-nodes.ts';
import { targetStates, worstState } from '../targets/target-operations.ts';
import type { UsageServices } from '../usage/usage-operations.ts';
import { booksOperation } from '../books-operation.ts';
import { booksMembers, type BooksServices, readBooks } from './books-state.ts';
import { beginOfToday, sumMonthBefore, sumYesterday } from './day-and-month.ts';

type OverviewServices = UsageServices & AttentionServices & ControlServices & BooksServices;
type Context = AdminContext<OverviewServices>;

const daySeconds = 86_400;
const hourSeconds = 3600;
const beforeKeptMs = 15_000;
const seriesMax = 8;
const listedMax = 8;
const attentionMax = 20;

const amounts = record({ amount: moneySchema, calls: Type.Integer() });
const share = nullable(Type.Number({ description: 'From 0 to 1; null if nothing ended, or for callers of some users.' }));

/** Sums of each hour. */
const hours = {
  amounts: Type.Array(moneySchema),
  calls: Type.Array(Type.Integer()),
  tokens: Type.Array(Type.Integer({ description: 'Of input and output.' })),
};

const hoursSchema = record(
  {
    failed_shares: Type.Array(share),
    first_byte_p95_ms: Type.Array(nullable(Type.Integer())),
  },
  'How the calls of each hour went, in the order of bucket_starts; null for callers of some users.',
);

const overviewSchema = record({
  time_zone: Type.String(),
  today: amounts,
  yesterday: { ...amounts, description: 'The same hours of the day before.' },
  month: amounts,
  last_day: record({
    calls: Type.Integer(),
    failed_share: share,
    first_byte_p95_ms: nullable(Type.Integer()),
    bucket_starts: Type.Array(Type.String()),
    hours: nullable(hoursSchema),
    series: Type.Array(record({ model: nullable(Type.String({ description: 'Null: all others.' })), ...hours })),
    before: record(hours, 'All calls of the same hours of the day before.'),
  }),
  under_way: nullable(Type.Integer({ description: 'Calls in all running gateways.' })),
  attention: Type.Array(attentionSchema),
  users: Type.Array(record({ user: Type.String(), ...amounts.properties })),
  upstreams: Type.Array(
    record({
      upstream: Type.String(),
      state: nullable(Type.Enum(targetStates, { description: 'The worst of its targets in running gateways; null if none has used it.' })),
      calls: Type.Integer(),
      failed_share: share,
      first_byte_p95_ms: nullable(Type.Integer()),
    }),
    { description: 'Those that were called most, and all that do not work.' },
  ),
  books: nullable(
    record({
      add_up: Type.Boolean({ description: 'Whether the last verification of every gateway found no difference.' }),
      journal_pending: Type.Integer({ description: 'Finished calls that are not in the database yet.' }),
      price_versions: Type.Array(Type.String(), { description: 'More than one while gateways differ.' }),
      ...booksMembers,
    }),
  ),
  pending_calls: Type.Integer(),
  as_of: Type.String(),
});

/** The beginnings of the present day and month in a zone, in Unix seconds. */
function beginnings(nowMs: number, timeZone: string): { readonly day: number; readonly month: number } {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone);
  const secondsOf = (time: Temporal.ZonedDateTime): number => Math.floor(time.startOfDay().epochMilliseconds / 1000);
  return { day: secondsOf(now), month: secondsOf(now.with({ day: 1 })) };
}

const sumOf = ({ amountNanoUsd, calls }: UsageSums) => ({ amount: formatMoney(amountNanoUsd), calls });
const hoursOf = (buckets: readonly UsageSums[]) => ({
  amounts: buckets.map(({ amountNanoUsd }) => formatMoney(amountNanoUsd)),
  calls: buckets.map(({ calls }) => calls),
  tokens: buckets.map(({ tokensIn, tokensOut }) => tokensIn + tokensOut),
});
const failedShare = ({ failed, ended }: UsageSums): number | null =>
  failed === undefined || ended === undefined || ended === 0 ? null : failed / ended;
const firstByte = ({ firstByte: histogram }: UsageSums): number | null =>
  histogram === undefined ? null : (percentileOf(histogram, 0.95) ?? null);

/** How each hour of a chart went. An hour for which there are no sums has neither. */
function encodeHours(bucketStarts: readonly number[], service: UsageAnswer): Static<typeof hoursSchema> {
  const sums = new Map(service.bucketStarts.map((start, index) => [start, service.totals.buckets[index]]));
  const of = <T>(read: (sums: UsageSums) => T) =>
    bucketStarts.map((start) => {
      const found = sums.get(start);
      return found === undefined ? null : read(found);
    });
  return { failed_shares: of(failedShare), first_byte_p95_ms: of(firstByte) };
}

/** All questions about usage of the overview, at once. */
async function askUsage({ services, principal }: Context, nowMs: number) {
  const { timeZone } = services.about;
  const { day, month } = beginnings(nowMs, timeZone);
  const now = Math.ceil(nowMs / 1000);
  const ask = (question: Partial<UsageQuestion> & Pick<UsageQuestion, 'startSeconds'>): Promise<UsageAnswer> =>
    queryUsage(
      services.usage,
      {
        endSeconds: now,
        timeZone,
        granularity: 'none',
        extra: [],
        groupBy: [],
        filter: {},
        scope: principal.users,
        limit: listedMax,
        rankBy: 'amount',
        ...question,
      },
      nowMs,
    );
  // Sums by upstream know no users, so that a caller of some users does not get them.
  const service =
    principal.users === 'all'
      ? ask({ startSeconds: now - daySeconds, groupBy: ['upstream'], granularity: 'hour', extra: ['failed', 'firstByte'], rankBy: 'calls' })
      : Promise.resolve(undefined);
  const sum = async (startSeconds: number, endSeconds: number): Promise<UsageSums> =>
    (await ask({ startSeconds, endSeconds })).totals.total;
  const spans = { now, day, month, sum };
  return await Promise.all([
    ask({ startSeconds: beginOfToday(spans), groupBy: ['user'] }),
    sumYesterday(spans),
    sumMonthBefore(spans),
    ask({ startSeconds: now - daySeconds, granularity: 'hour', groupBy: ['model'], limit: seriesMax }),
    // Hours that have ended hardly change.
    shareAnswer(
      services.usage,
      JSON.stringify(['hours before', principal.users, Math.floor(now / hourSeconds)]),
      () => ask({ startSeconds: now - 2 * daySeconds, endSeconds: now - daySeconds, granularity: 'hour' }),
      () => beforeKeptMs,
    ),
    service,
  ] as const);
}

/** Upstreams with their sums of a day and their state: those that were called, and those that do not work. */
function encodeUpstreams(service: UsageAnswer | undefined, live: readonly NodeReport[]): Static<typeof overviewSchema>['upstreams'] {
  const targets = Map.groupBy(
    live.flatMap((report) => report.targets),
    ({ upstream }) => upstream,
  );
  const stateOf = (upstream: string) => worstState((targets.get(upstream) ?? []).map(({ state }) => state));
  const called = (service?.series ?? []).map(({ names: [upstream = ''], total: sums }) => ({
    upstream,
    state: stateOf(upstream),
    calls: sums.calls,
    failed_share: failedShare(sums),
    first_byte_p95_ms: firstByte(sums),
  }));
  const broken = [...targets.keys()].filter((name) => stateOf(name) !== 'healthy' && !called.some(({ upstream }) => upstream === name));
  return [
    ...called,
    ...broken.map((upstream) => ({ upstream, state: stateOf(upstream), calls: 0, failed_share: null, first_byte_p95_ms: null })),
  ];
}

/**
 * Ten open consoles ask for this every few seconds. On large books it takes a tenth of a second, and is then the same
 * for all of them for a while: `as_of` says since when.
 */
const keepMs = (tookMs: number): number => (tookMs < 25 ? 0 : Math.min(3000, 20 * tookMs));

async function readOverview(context: Context): Promise<{ readonly body: Static<typeof overviewSchema> }> {
  const atMs = context.nowMs();
  const seesNodes = context.principal.permissions.has('upstreams:read') && context.principal.users === 'all';
  const [[today, yesterday, monthBefore, lastDay, dayBefore, service], attention, nodes, books] = await Promise.all([
    askUsage(context, atMs),
    readAttention(context),
    seesNodes ? watchNodes(context) : [],
    seesNodes ? readBooks(context) : undefined,
  ]);
  const live = nodes.filter((node) => !isSilent(node, atMs)).map(({ report }) => report);
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const lines = lastDay.series.map(({ names: [model = ''], buckets }) => ({ model, buckets }));
  const others = lastDay.other === undefined ? [] : [{ model: null, buckets: lastDay.other.buckets }];
  return {
    body: {
      time_zone: context.services.about.timeZone,
      today: sumOf(today.totals.total),
      yesterday: sumOf(yesterday),
      month: sumOf(addUsage(monthBefore, today.totals.total)),
      last_day: {
        calls: lastDay.totals.total.calls,
        failed_share: service === undefined ? null : failedShare(service.totals.total),
        first_byte_p95_ms: service === undefined ? null : firstByte(service.totals.total),
        hours: service === undefined ? null : encodeHours(lastDay.bucketStarts, service),
        bucket_starts: lastDay.bucketStarts.map((seconds) => instant(seconds * 1000)),
        series: [...lines, ...others].map(({ model, buckets }) => ({ model, ...hoursOf(buckets) })),
        before: hoursOf(dayBefore.totals.buckets),
      },
      under_way: seesNodes ? total(live.map(({ callsUnderWay }) => callsUnderWay)) : null,
      attention: attention.slice(0, attentionMax),
      users: today.series.map(({ names: [user = ''], total: sums }) => ({ user, ...sumOf(sums) })),
      upstreams: encodeUpstreams(service, live),
      books:
        books === undefined
          ? null
          : {
              add_up: !attention.some(({ code }) => code === 'books'),
              journal_pending: total(live.map(({ journalPending }) => journalPending)),
              price_versions: [...new Set(live.map(({ priceVersion }) => priceVersion))],
              ...books,
            },
      pending_calls: (service?.progress?.waiting ?? 0) + (service?.progress?.old ?? 0),
      as_of: instant(atMs),
    },
  };
}

const getOverview = booksOperation({
  id: 'overview.get',
  method: 'GET',
  path: '/overview',
  summary: 'Whether all is well and what it costs: one request for a whole screen',
  access: 'usage:read',
  reply: overviewSchema,
  handle: async (_input, context: Context) => {
    const { users, permissions } = context.principal;
    const asked = JSON.stringify(['overview', users, [...permissions].toSorted()]);
    return await shareAnswer(context.services.usage, asked, () => readOverview(context), keepMs);
  },
});

export const overviewOperations: readonly Operation<OverviewServices>[] = [getOverview];
