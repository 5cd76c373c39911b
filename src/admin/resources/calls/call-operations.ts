import { type Static, Type } from 'typebox';

import type { AuditStore } from '../../../audit/audit-entry.ts';
import { callFlags, endCodes } from '../../../billing/calls/call-fact.ts';
import type { CallFactsStore, CallSummary } from '../../../billing/calls/call-facts-store.ts';
import { type CallExports, TooManyExportsError } from '../../../billing/calls/call-exports.ts';
import { findCall } from '../../../billing/calls/find-call.ts';
import type { CallEnd } from '../../../billing/ledger/call-entry.ts';
import type { LedgerStore } from '../../../billing/ledger/ledger-store.ts';
import { StatisticsUnavailableError } from '../../../billing/statistics/statistics.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { workbookType } from '../../../billing/workbook/write-table.ts';
import {
  instant,
  instantQuery,
  moneySchema,
  nullable,
  optionalInstant,
  pageQuery,
  pageRowsDefault,
  record,
  request,
} from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';
import { takeAll } from '../../take-all.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';
import type { ControlServices } from '../nodes/live-nodes.ts';
import { booksOperation } from '../books-operation.ts';
import { callFilterQuery, readCallFilter } from './call-filter.ts';

export type CallServices = ControlServices &
  ListServices & {
    readonly calls: CallFactsStore;
    /** Makes exports, beside the event loop in a program that serves. */
    readonly callExports: CallExports;
    /** Exports are rows of the audit log. */
    readonly audit: Pick<AuditStore, 'recordAction'>;
    readonly ledger: Pick<LedgerStore, 'listCallRows' | 'findReplyOwner'>;
  };
type Context = AdminContext<CallServices>;

/** A page ends after this much work, so that every page is fast, also for a needle. */
const workMs = 60;
const callEnds = Object.keys(endCodes) as readonly CallEnd[];
const flagNames = Object.keys(callFlags) as readonly (keyof typeof callFlags)[];

const callSchema = record(
  {
    id: Type.String({ examples: ['req_01m81…'] }),
    at: Type.String({ description: 'When it was accepted.' }),
    user: Type.String(),
    key_id: Type.String(),
    key: Type.String(),
    model: Type.String({ description: 'As the client asked for it.' }),
    served_model: nullable(Type.String()),
    upstream: nullable(Type.String()),
    upstream_model: nullable(Type.String()),
    interface: Type.String(),
    team: nullable(Type.String({ description: "The user's team when the call was made." })),
    tags: Type.Record(Type.String(), Type.String(), { description: 'Values beyond 1,000 of one name are (other).' }),
    end: Type.Enum(callEnds),
    error_code: nullable(Type.String()),
    status: nullable(Type.Integer()),
    flags: Type.Array(Type.Enum(flagNames)),
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    first_byte_ms: nullable(Type.Number()),
    duration_ms: Type.Number(),
    amount: moneySchema,
  },
  'A booked call. Amount and tokens include its parts.',
);

export const encodeCall = (call: CallSummary): Static<typeof callSchema> => ({
  id: call.callId,
  at: instant(call.atMs),
  user: call.userName,
  key_id: call.keyId,
  key: call.keyName,
  model: call.model,
  served_model: call.servedModel ?? null,
  upstream: call.upstream ?? null,
  upstream_model: call.upstreamModel ?? null,
  interface: call.interface,
  team: call.team ?? null,
  tags: { ...call.tags },
  end: call.end,
  error_code: call.errorCode ?? null,
  status: call.status ?? null,
  flags: [...call.flags],
  prompt_tokens: call.promptTokens,
  completion_tokens: call.completionTokens,
  first_byte_ms: call.firstByteMs ?? null,
  duration_ms: call.durationMs,
  amount: formatMoney(call.amountNanoUsd),
});

const positionSchema = Type.Object({ atMs: Type.Number(), number: Type.Number() });

export const listCalls = booksOperation({
  id: 'calls.list',
  method: 'GET',
  path: '/calls',
  summary: 'Booked calls, newest first; a page may end before its limit, and the cursor continues',
  access: 'calls:read',
  query: record({ ...callFilterQuery, ...pageQuery }),
  reply: record({
    items: Type.Array(callSchema),
    next_cursor: nullable(Type.String()),
    searched_to: Type.String({ description: 'All matching calls accepted since then are in this page or an earlier one.' }),
    pending_calls: Type.Integer({ description: 'Booked calls that lists do not have yet.' }),
    as_of: Type.String(),
  }),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const { limit = pageRowsDefault, cursor, ...fields } = query;
    const question = { list: 'calls', users: principal.users, ...fields };
    const scan = {
      filter: readCallFilter(fields),
      scope: principal.users,
      limit,
      workMs,
      ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
    };
    const [{ calls, next, searchedToMs }, { waiting, old }] = await Promise.all([
      services.calls.scanCalls(scan),
      services.calls.followProgress(),
    ]);
    const next_cursor = next === undefined ? null : services.cursors.write(question, { atMs: next.atMs, number: next.number });
    const searched_to = instant(Math.max(0, searchedToMs));
    return { body: { items: calls.map(encodeCall), next_cursor, searched_to, pending_calls: waiting + old, as_of: instant(nowMs()) } };
  },
});

const getCall = booksOperation({
  id: 'calls.get',
  method: 'GET',
  path: '/calls/{id}',
  summary: 'Everything that the books know about a call, by any of its ids',
  access: 'calls:read',
  params: record({ id: Type.String({ maxLength: 200, description: 'The id of the call, or an id in its reply.' }) }),
  reply: record({
    receipt: Type.Object({}, { additionalProperties: true, description: 'As GET /v1/receipts/{id} of the gateway returns it.' }),
    transactions: Type.Array(record({ id: Type.String(), posted_at: nullable(Type.String()), amount: moneySchema }), {
      description: 'Postings that have the call. Calls that are booked together have one, with the amount of all.',
    }),
    as_of: Type.String({ description: 'When the books were read: later rows, such as a refund, are not in it.' }),
  }),
  handle: async ({ params }, { services, principal, nowMs }: Context) => {
    const atMs = nowMs();
    const detail = await findCall(
      { ...services.ledger, listCallTransactions: services.calls.listCallTransactions },
      params.id,
      principal.users,
    );
    if (detail === undefined) throw notFound('call of this id in the books');
    const transactions = detail.transactions.map(({ transactionId, postedAtMs, amountNanoUsd }) => ({
      id: transactionId,
      posted_at: optionalInstant(postedAtMs),
      amount: formatMoney(amountNanoUsd),
    }));
    return { body: { receipt: detail.receipt, transactions, as_of: instant(atMs) } };
  },
});

/** One count may work longer than a page. It holds only the database thread of the console's questions. */
const countWorkMs = 8 * workMs;
const bucketsMax = 400;
const bucketSizesMs = [1000, 10_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000] as const;

const histogram = booksOperation({
  id: 'calls.histogram',
  method: 'GET',
  path: '/calls/histogram',
  summary: 'Numbers of calls by time and end; it may not reach the beginning of the span, and says how far it counted',
  access: 'calls:read',
  query: record({
    ...callFilterQuery,
    from: instantQuery('Calls accepted at or after it.'),
    to: instantQuery('Calls accepted before it.'),
  }),
  reply: record({
    bucket_ms: Type.Integer(),
    items: Type.Array(record({ start: Type.String(), ends: record(Object.fromEntries(callEnds.map((end) => [end, Type.Integer()]))) }), {
      description: 'Buckets without calls are left out. Oldest first.',
    }),
    searched_to: Type.String({ description: 'All matching calls accepted since then are counted.' }),
    pending_calls: Type.Integer({ description: 'Booked calls that are not counted yet.' }),
    as_of: Type.String(),
  }),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const { startMs = 0, endMs = 0, ...rest } = readCallFilter(query);
    if (startMs >= endMs) throw new AdminProblem('invalid_request', 'The query parameter from must be before to.');
    const bucketMs = bucketSizesMs.find((size) => (endMs - startMs) / size <= bucketsMax) ?? Math.ceil((endMs - startMs) / bucketsMax);
    const filter = { ...rest, startMs, endMs };
    const [{ buckets, searchedToMs }, { waiting, old }] = await Promise.all([
      services.calls.countCallsByTime({ filter, scope: principal.users, bucketMs, workMs: countWorkMs }),
      services.calls.followProgress(),
    ]);
    return {
      body: {
        bucket_ms: bucketMs,
        items: buckets.map((bucket) => ({ start: instant(bucket.startMs), ends: { ...bucket.ends } })),
        searched_to: instant(Math.max(0, searchedToMs)),
        pending_calls: waiting + old,
        as_of: instant(nowMs()),
      },
    };
  },
});

const exportFormat = Type.Enum(['csv', 'jsonl', 'xlsx']);
type ExportFormat = Static<typeof exportFormat>;
const exportTypes = ['text/csv', 'application/jsonl', workbookType];
const contentTypes = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl', xlsx: workbookType } as const;
const exportSummary = 'All calls that a filter selects, newest first, as CSV, JSON Lines or a workbook with as many sheets as they need';

/** The calls of an export. It is a row of the audit log, with what was asked for. */
async function exportFound(
  { format, ...fields }: Parameters<typeof readCallFilter>[0] & { readonly format: ExportFormat },
  { services, principal, signal, nowMs, change }: Context,
) {
  const asked = { filter: readCallFilter(fields), scope: principal.users, format, nowMs: nowMs() };
  const after = JSON.stringify({ ...fields, format });
  await services.audit.recordAction({ action: 'calls.export', subject: 'export:calls', after }, change());
  const pieces = await services.callExports.open(asked, signal).catch(unavailable);
  return { stream: takeAll(pieces), contentType: contentTypes[format], fileName: `calls.${format}`, ownsPieces: true } as const;
}

function unavailable(error: unknown): never {
  if (error instanceof TooManyExportsError || error instanceof StatisticsUnavailableError)
    throw new AdminProblem('unavailable', error.message, { cause: error });
  throw error;
}

export const exportAll = operation({
  id: 'calls.export',
  method: 'POST',
  path: '/calls/export',
  summary: exportSummary,
  access: 'calls:read',
  body: request({ ...callFilterQuery, format: exportFormat }),
  streams: exportTypes,
  handle: async ({ body }, context: Context) => await exportFound(body, context),
});

const download = operation({
  id: 'calls.download',
  method: 'GET',
  path: '/calls/export',
  summary: `${exportSummary}. The same for a link, which a browser saves without holding it in memory`,
  access: 'calls:read',
  query: record({ ...callFilterQuery, format: exportFormat }),
  streams: exportTypes,
  handle: async ({ query }, context: Context) => await exportFound(query, context),
});

export const callOperations: readonly Operation<CallServices>[] = [listCalls, histogram, exportAll, download, getCall];
