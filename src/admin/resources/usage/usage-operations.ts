import { type Static, Type } from 'typebox';

import type { AuditStore } from '../../../audit/audit-entry.ts';
import { percentileOf } from '../../../billing/calls/duration-histogram.ts';
import { endCodes } from '../../../billing/calls/call-fact.ts';
import type { CallEnd } from '../../../billing/ledger/call-entry.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { granularityNames } from '../../../billing/statistics/granularity.ts';
import { exportUsage, exportUsageWorkbook } from '../../../billing/usage/export-usage.ts';
import { queryUsage } from '../../../billing/usage/query-usage.ts';
import { type UsageLine, type UsagePart, type UsageQuestion, UsageRefusedError } from '../../../billing/usage/usage-question.ts';
import type { TagDimension, UsageStore, UsageSums } from '../../../billing/usage/usage-store.ts';
import { workbookType } from '../../../billing/workbook/write-table.ts';
import { labelMembers, readLabels } from '../../contract/labels.ts';
import { instant, instantQuery, moneySchema, nullable, optionalInstant, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import type { ProblemCode } from '../../problem-codes.ts';
import { AdminProblem } from '../../problem.ts';
import type { ControlServices } from '../nodes/live-nodes.ts';
import { booksOperation } from '../books-operation.ts';
import { listUsageRecords, type UsageRecordServices } from './records-operation.ts';
import { downloadWorkbook, type WorkbookServices } from './workbook-operation.ts';

export type UsageServices = ControlServices &
  UsageRecordServices &
  WorkbookServices & {
    readonly usage: UsageStore;
    /** Exports are rows of the audit log. */
    readonly audit: Pick<AuditStore, 'recordAction'>;
    /** The zone of statistics. */
    readonly about: { readonly timeZone: string };
  };
type Context = AdminContext<UsageServices>;

const dimensions = ['user', 'key', 'model', 'team', 'upstream', 'upstream_model', 'interface', 'end'] as const;
const groupOfTag = Type.Unsafe<TagDimension>(Type.String({ pattern: '^tag:[a-z][a-z0-9_-]{0,31}$' }));
const ranks = {
  amount: 'amount',
  calls: 'calls',
  tokens_in: 'tokensIn',
  tokens_out: 'tokensOut',
  use_time: 'useTime',
  failed: 'failed',
} as const;
const granularities = ['auto', 'none', ...Object.values(granularityNames)] as const;
const callEnds = Object.keys(endCodes) as readonly CallEnd[];
const extras = { failed: 'failed', cut: 'cut', first_byte: 'firstByte', duration: 'duration' } as const;

const names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { minItems: 1, maxItems: 50, description }));

const filtersSchema = request({
  user: names('Users.'),
  key_id: names('Keys, by their ids.'),
  key: names('Keys, by user and name: ann/app. Those of earlier keys with these names count too.'),
  model: names('Models as clients asked for them.'),
  ...labelMembers,
  upstream: names('Upstreams.'),
  upstream_model: names('Names of models at upstreams.'),
  interface: names('Interfaces that clients spoke.'),
  end: Type.Optional(Type.Array(Type.Enum(callEnds), { minItems: 1, maxItems: callEnds.length })),
});

const questionSchema = request({
  from: instantQuery('Calls accepted at or after it count.'),
  to: instantQuery('Calls accepted before it count.'),
  time_zone: Type.Optional(Type.String({ maxLength: 100, description: 'IANA name; the configured zone unless given.' })),
  granularity: Type.Optional(Type.Enum(granularities, { description: 'auto: the finest with at most 400 buckets.' })),
  extra: Type.Optional(
    Type.Array(Type.Enum(['failed', 'cut', 'first_byte', 'duration']), {
      maxItems: 4,
      description: 'Sums beyond those of the statistics.',
    }),
  ),
  group_by: Type.Optional(
    Type.Array(Type.Union([Type.Enum(dimensions), groupOfTag]), {
      maxItems: 2,
      uniqueItems: true,
      description: 'tag:project groups by the values of the tag project. Calls without a tag or team are a group with an empty name.',
    }),
  ),
  filters: Type.Optional(filtersSchema),
  exclude: Type.Optional({ ...filtersSchema, description: 'Calls that any of its members selects do not count.' }),
  exclude_groups: Type.Optional(
    Type.Array(
      { ...filtersSchema, minProperties: 1 },
      { maxItems: 50, description: 'Calls that all members of one of these select do not count: {"user": ["ann"], "model": ["gpt-5"]}.' },
    ),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 50, description: 'Groups with a series; the rest is `other`. 12 unless given.' }),
  ),
  rank_by: Type.Optional(Type.Enum(['amount', 'calls', 'tokens_in', 'tokens_out', 'use_time', 'failed'])),
  compare: Type.Optional(Type.Enum(['previous', 'year'], { description: 'Also answers for the span before, or that of the year before.' })),
});

const optionalCount = nullable(Type.Integer());
const sumsSchema = record({
  amount: moneySchema,
  calls: Type.Integer(),
  tokens_in: Type.Integer(),
  tokens_out: Type.Integer(),
  cache_read: Type.Integer(),
  cache_write: Type.Integer(),
  use_time_ms: Type.Integer(),
  failed: optionalCount,
  cut: optionalCount,
  first_byte_p50_ms: optionalCount,
  first_byte_p95_ms: optionalCount,
  duration_p95_ms: optionalCount,
});
const lineSchema = record({ total: sumsSchema, buckets: Type.Array(sumsSchema) });
const partMembers = {
  from: Type.String(),
  to: Type.String(),
  bucket_starts: Type.Array(Type.String(), { description: 'The first may begin before the span.' }),
  totals: lineSchema,
  series: Type.Array(
    record({ names: Type.Array(Type.String(), { description: 'A key has two: its user and its name.' }), ...lineSchema.properties }),
  ),
  other: nullable(lineSchema),
};

function encodeSums(sums: UsageSums): Static<typeof sumsSchema> {
  const share = (histogram: UsageSums['duration'], part: number): number | null =>
    histogram === undefined ? null : (percentileOf(histogram, part) ?? null);
  return {
    amount: formatMoney(sums.amountNanoUsd),
    calls: sums.calls,
    tokens_in: sums.tokensIn,
    tokens_out: sums.tokensOut,
    cache_read: sums.cacheRead,
    cache_write: sums.cacheWrite,
    use_time_ms: Math.round(sums.useTimeMs),
    failed: sums.failed ?? null,
    cut: sums.cut ?? null,
    first_byte_p50_ms: share(sums.firstByte, 0.5),
    first_byte_p95_ms: share(sums.firstByte, 0.95),
    duration_p95_ms: share(sums.duration, 0.95),
  };
}

const encodeLine = ({ total, buckets }: UsageLine): Static<typeof lineSchema> => ({
  total: encodeSums(total),
  buckets: buckets.map(encodeSums),
});

function encodePart({ startSeconds, endSeconds, bucketStarts, totals, series, other }: UsagePart) {
  return {
    from: instant(startSeconds * 1000),
    to: instant(endSeconds * 1000),
    bucket_starts: bucketStarts.map((seconds) => instant(seconds * 1000)),
    totals: encodeLine(totals),
    series: series.map((line) => ({ names: [...line.names], ...encodeLine(line) })),
    other: other === undefined ? null : encodeLine(other),
  };
}

/** The filters of a question, without those that it does not set. */
function readFilters(filters: Static<typeof questionSchema>['filters']) {
  const { user, key_id: ids, key, model, upstream, upstream_model, interface: spoken, end } = filters ?? {};
  const keys = [...(ids ?? []).map((keyId) => ({ keyId })), ...(key ?? []).map(readKeyName)];
  return {
    ...(user !== undefined && { users: user.map((name) => name.normalize('NFC')) }),
    ...(keys.length > 0 && { keys }),
    ...(model !== undefined && { models: model }),
    ...(upstream !== undefined && { upstreams: upstream }),
    ...(upstream_model !== undefined && { upstreamModels: upstream_model }),
    ...(spoken !== undefined && { interfaces: spoken }),
    ...(end !== undefined && { ends: end }),
    ...readLabels(filters ?? {}),
  };
}

/** @throws AdminProblem `invalid_request` unless it is the name of a user and of a key */
function readKeyName(text: string): { readonly userName: string; readonly keyName: string } {
  const [userName = '', keyName = '', ...rest] = text.normalize('NFC').split('/');
  if (userName !== '' && keyName !== '' && rest.length === 0) return { userName, keyName };
  throw new AdminProblem('invalid_request', `The field key must name a user and its key, such as ann/app; got "${text}".`);
}

/** What any member of `exclude` selects, and what all members of one of `exclude_groups` select. */
function readExcluded({ exclude, exclude_groups: groups = [] }: Static<typeof questionSchema>) {
  const { tags, ...members } = readFilters(exclude);
  const each = Object.entries(members).map(([name, values]) => ({ [name]: values }));
  const eachTag = Object.entries(tags ?? {}).map(([name, values]) => ({ tags: { [name]: values } }));
  return [...each, ...eachTag, ...groups.map(readFilters)];
}

const problemOf: Partial<Readonly<Record<UsageRefusedError['code'], ProblemCode>>> = {
  grouping_too_wide: 'grouping_too_wide',
  not_ready: 'unavailable',
};

/** A refusal of the question as a problem; other errors as they are. */
function refuse(error: unknown): never {
  if (error instanceof UsageRefusedError)
    throw new AdminProblem(problemOf[error.code] ?? 'invalid_request', error.message, { cause: error });
  if (error instanceof RangeError)
    throw new AdminProblem('invalid_request', `The field time_zone must be an IANA name such as Europe/Berlin: ${error.message}`, {
      cause: error,
    });
  throw error;
}

function readQuestion(body: Static<typeof questionSchema>, { services, principal }: Context): UsageQuestion {
  return {
    startSeconds: Math.floor(Date.parse(body.from) / 1000),
    endSeconds: Math.ceil(Date.parse(body.to) / 1000),
    timeZone: body.time_zone ?? services.about.timeZone,
    granularity: body.granularity ?? 'auto',
    extra: (body.extra ?? []).map((name) => extras[name]),
    groupBy: (body.group_by ?? []).map((name) => (name === 'upstream_model' ? 'upstreamModel' : name)),
    filter: readFilters(body.filters),
    ...((body.exclude !== undefined || body.exclude_groups !== undefined) && { excluded: readExcluded(body) }),
    scope: principal.users,
    limit: body.limit ?? 12,
    rankBy: ranks[body.rank_by ?? 'amount'],
    ...(body.compare !== undefined && { compare: body.compare }),
  };
}

export const queryUsageSums = booksOperation({
  id: 'usage.query',
  method: 'POST',
  path: '/usage/query',
  summary: 'Sums of usage in buckets of time and groups; series and other add up to the totals',
  access: 'usage:read',
  body: questionSchema,
  reply: record({
    time_zone: Type.String(),
    granularity: Type.String(),
    ...partMembers,
    comparison: nullable(record(partMembers)),
    pending_calls: Type.Integer({ description: 'Booked calls that are not counted yet.' }),
    complete_until: nullable(Type.String({ description: 'Null: as complete as the books.' })),
    as_of: Type.String(),
  }),
  handle: async ({ body }, context: Context) => {
    const { services } = context;
    const atMs = context.nowMs();
    const question = readQuestion(body, context);
    const answer = await queryUsage(services.usage, question, atMs).catch(refuse);
    return {
      body: {
        time_zone: answer.timeZone,
        granularity: answer.granularity,
        ...encodePart(answer),
        comparison: answer.comparison === undefined ? null : encodePart(answer.comparison),
        pending_calls: (answer.progress?.waiting ?? 0) + (answer.progress?.old ?? 0),
        complete_until: optionalInstant(answer.progress?.completeUntilMs),
        as_of: instant(atMs),
      },
    };
  },
});

const exportAnswer = operation({
  id: 'usage.export',
  method: 'POST',
  path: '/usage/export',
  summary: 'The rows of a usage question as CSV, JSON Lines or a workbook; their sums are the totals of the question',
  access: 'usage:read',
  body: request({ question: questionSchema, format: Type.Enum(['csv', 'jsonl', 'xlsx']) }),
  streams: ['text/csv', 'application/jsonl', workbookType],
  handle: async ({ body }, context: Context) => {
    const { compare: _compare, ...question } = readQuestion(body.question, context);
    const answer = await queryUsage(context.services.usage, question, context.nowMs()).catch(refuse);
    const { format } = body;
    const asked = { action: 'usage.export', subject: 'export:usage', after: JSON.stringify(body) };
    await context.services.audit.recordAction(asked, context.change());
    if (format === 'xlsx') {
      const workbook = exportUsageWorkbook(answer, question.groupBy, context.nowMs());
      return { stream: workbook, contentType: workbookType, fileName: 'usage.xlsx' };
    }
    const stream = (async function* () {
      yield* exportUsage(answer, question.groupBy, format);
    })();
    const contentType = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl';
    return { stream, contentType, fileName: `usage.${format}` };
  },
});

export const usageOperations: readonly Operation<UsageServices>[] = [queryUsageSums, exportAnswer, listUsageRecords, downloadWorkbook];
