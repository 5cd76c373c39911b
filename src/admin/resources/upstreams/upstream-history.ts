import { Type } from 'typebox';

import { percentileOf } from '../../../billing/calls/duration-histogram.ts';
import { queryUsage } from '../../../billing/usage/query-usage.ts';
import type { UsageSums } from '../../../billing/usage/usage-store.ts';
import type { Alert } from '../../../alerts/alert.ts';
import { instant, nullable, optionalInstant, record } from '../../contract/values.ts';
import type { AdminContext } from '../../operation.ts';
import type { AlertServices } from '../alerts/alert-operations.ts';
import type { UsageServices } from '../usage/usage-operations.ts';
import { booksOperation } from '../books-operation.ts';

export type UpstreamHistoryServices = UsageServices & Pick<AlertServices, 'alerts'>;

const hoursMax = 744;
const hourSeconds = 3600;
const alertsMax = 10_000;

const historySchema = record({
  items: Type.Array(
    record({
      start: Type.String({ description: 'The beginning of an hour; the first and the last one may be cut.' }),
      calls: Type.Integer({ description: 'Calls that it answered, or that failed there at their last attempt.' }),
      failed: Type.Integer(),
      cut: Type.Integer({ description: 'Replies that were interrupted after they had begun.' }),
      first_byte_p95_ms: nullable(Type.Integer({ description: 'Null without a call that got any content.' })),
    }),
    { description: 'Each hour of the span, the oldest first.' },
  ),
  problems: Type.Array(
    record({
      code: Type.String({ description: 'The rule of the alert: upstream_down, credential_refused, credential_unavailable.' }),
      since: Type.String(),
      until: nullable(Type.String({ description: 'Null while it lasts.' })),
      parts: Type.Array(Type.String(), { description: 'The models or credentials that are or were bad.' }),
      summary: Type.String(),
    }),
    { description: 'Problems that gateways observed and that touch the span, the newest first. Ended ones are kept for some days.' },
  ),
  as_of: Type.String(),
});

const encodeHour = (startSeconds: number, { ended = 0, failed = 0, cut = 0, firstByte }: UsageSums) => ({
  start: instant(startSeconds * 1000),
  calls: ended,
  failed,
  cut,
  first_byte_p95_ms: firstByte === undefined ? null : (percentileOf(firstByte, 0.95) ?? null),
});

const encodeProblem = ({ rule, sinceMs, resolvedAtMs, members, summary }: Alert) => ({
  code: rule,
  since: instant(sinceMs),
  until: optionalInstant(resolvedAtMs),
  parts: Object.keys(members).filter((name) => name !== ''),
  summary,
});

/** The hours and the problems of an upstream. A name without calls and problems has a history of zeros. */
export const readUpstreamHistory = booksOperation({
  id: 'upstreams.history',
  method: 'GET',
  path: '/upstreams/{name}/history',
  summary: 'How an upstream did: calls, failures and times of each hour, and the problems that gateways observed',
  access: 'upstreams:read',
  params: record({ name: Type.String({ maxLength: 64 }) }),
  query: record({
    hours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: hoursMax, description: 'The length of the span until now; 24 unless given.' }),
    ),
  }),
  reply: historySchema,
  handle: async ({ params: { name }, query }, { services, principal, nowMs }: AdminContext<UpstreamHistoryServices>) => {
    const atMs = nowMs();
    const endSeconds = Math.ceil(atMs / 1000);
    const startSeconds = endSeconds - (query.hours ?? 24) * hourSeconds;
    const [{ bucketStarts, totals }, open, resolved] = await Promise.all([
      queryUsage(
        services.usage,
        {
          startSeconds,
          endSeconds,
          timeZone: services.about.timeZone,
          granularity: 'hour',
          extra: ['failed', 'cut', 'firstByte'],
          groupBy: [],
          filter: { upstreams: [name] },
          scope: principal.users,
          limit: 1,
          rankBy: 'calls',
        },
        atMs,
      ),
      services.alerts.listAlerts({ state: 'open', limit: alertsMax }),
      services.alerts.listAlerts({ state: 'resolved', limit: alertsMax }),
    ]);
    const problems = [...open, ...resolved]
      .filter(({ subject, resolvedAtMs = atMs }) => subject === `upstream:${name}` && resolvedAtMs >= startSeconds * 1000)
      .toSorted((one, other) => other.sinceMs - one.sinceMs);
    return {
      body: {
        items: bucketStarts.map((start, index) => encodeHour(start, totals.buckets[index] ?? totals.total)),
        problems: problems.map(encodeProblem),
        as_of: instant(atMs),
      },
    };
  },
});
