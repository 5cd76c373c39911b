import { type Static, Type } from 'typebox';

import type { AuditStore } from '../../../audit/audit-entry.ts';
import type { LedgerStore } from '../../../billing/ledger/ledger-store.ts';
import { type ComparedAccount, decodeCompared } from '../../../billing/reconciliation/compare-account.ts';
import { listedCall, type ListedCall } from '../../../billing/reconciliation/cell-calls.ts';
import type { ReconciliationStore, StoredReconciliation } from '../../../billing/reconciliation/reconciliation-store.ts';
import { Reconciliation } from '../../../billing/reconciliation/reconciliation.ts';
import { decodeAccount } from '../../../billing/reconciliation/vendor-account.ts';
import { vendorExports } from '../../../billing/reconciliation/vendor-exports.ts';
import { signs } from '../../../billing/reconciliation/row-usage.ts';
import { startOfDay } from '../../../billing/reconciliation/vendor-usage.ts';
import { instant, instantQuery, nullable, pageQuery, pageRowsDefault, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import type { OperationServices } from '../operations/operation-resource.ts';
import { readPosition } from '../read-position.ts';
import { cutPage } from '../cut-page.ts';
import { encodeReconciliation, summaryMembers, summarySchema } from './reconciliation-record.ts';
import { encodeResult, resultSchema } from './reconciliation-result.ts';

export type ReconciliationServices = ListServices &
  OperationServices & {
    readonly reconciliations: ReconciliationStore;
    readonly ledger: Pick<LedgerStore, 'listEntriesBetween'>;
    readonly audit: Pick<AuditStore, 'subjectVersion'>;
  };
type Context = AdminContext<ReconciliationServices>;

const noteMax = 2000;
const params = record({ id: Type.String({ maxLength: 64 }) });
const subject = ({ id }: Readonly<Record<string, string>>): string => `reconciliation:${id ?? ''}`;

/**
 * A vendor's account is about all users, so somebody who may see only some has none.
 * @throws AdminProblem `not_found`
 */
async function find({ services, principal }: Context, id: string): Promise<StoredReconciliation> {
  const found = principal.users === 'all' ? await services.reconciliations.findReconciliation(id) : undefined;
  if (found === undefined) throw notFound('reconciliation of this id');
  return found;
}

async function encode({ services, nowMs }: Context, stored: StoredReconciliation): Promise<Static<typeof summarySchema>> {
  const { summary, operationId } = stored;
  const began = summary === undefined && operationId !== undefined ? await services.operations.find(operationId) : undefined;
  return encodeReconciliation(stored, began, nowMs());
}

const positionSchema = Type.Object({ createdAtMs: Type.Number(), id: Type.String() });

export const listReconciliations = operation({
  id: 'reconciliations.list',
  method: 'GET',
  path: '/reconciliations',
  summary: "Comparisons of the ledger with vendors' exports, newest first; they are kept for 400 days",
  access: 'reconcile:run',
  query: record({
    vendor: Type.Optional(Type.Enum(Object.keys(vendorExports))),
    upstream: Type.Optional(Type.String({ maxLength: 256 })),
    from: Type.Optional(instantQuery('Their time ends after it.')),
    to: Type.Optional(instantQuery('Their time begins before it.')),
    ...pageQuery,
  }),
  reply: pageSchema(summarySchema),
  handle: async ({ query }, context: Context) => {
    const { services, principal, nowMs } = context;
    const { limit = pageRowsDefault, cursor, vendor, upstream, from, to } = query;
    const question = { list: 'reconciliations', vendor, upstream, from, to };
    const read = {
      ...(vendor !== undefined && { vendor }),
      ...(upstream !== undefined && { upstream }),
      ...(from !== undefined && { fromMs: Date.parse(from) }),
      ...(to !== undefined && { toMs: Date.parse(to) }),
      ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
      limit: limit + 1,
    };
    const rows = principal.users === 'all' ? await services.reconciliations.queryReconciliations(read) : [];
    const { shown, next_cursor } = cutPage(rows, limit, (last) =>
      services.cursors.write(question, { createdAtMs: last.createdAtMs, id: last.id }),
    );
    const items = await Promise.all(shown.map((stored) => encode(context, stored)));
    return { body: { items, next_cursor, as_of: instant(nowMs()) } };
  },
});

const getSchema = record({ ...summaryMembers, result: nullable(resultSchema) });

async function readCompared({ services }: Context, id: string): Promise<ComparedAccount | undefined> {
  const stored = await services.reconciliations.readReconciliation(id);
  return stored?.result === undefined ? undefined : decodeCompared(stored.result);
}

async function show(context: Context, id: string, differing = false): Promise<Answer<Static<typeof getSchema>>> {
  const version = await context.services.audit.subjectVersion(subject({ id }));
  const stored = await find(context, id);
  const compared = stored.summary === undefined ? undefined : await readCompared(context, id);
  const result = compared === undefined ? null : encodeResult(compared, Number(stored.tolerance), differing);
  return { body: { ...(await encode(context, stored)), result }, version };
}

export const getReconciliation = operation({
  id: 'reconciliations.get',
  method: 'GET',
  path: '/reconciliations/{id}',
  summary: 'One comparison, by model and day; null as its result until it is compared',
  access: 'reconcile:run',
  params,
  query: record({ differing: Type.Optional(Type.Boolean({ description: 'Only what differs.' })) }),
  reply: getSchema,
  handle: ({ params: { id }, query }, context: Context) => show(context, id, query.differing),
});

export const updateReconciliation = operation({
  id: 'reconciliations.update',
  method: 'PATCH',
  path: '/reconciliations/{id}',
  summary: 'Keeps a note, and accepts a comparison as it is or takes that back',
  access: 'reconcile:run',
  subject,
  params,
  body: request({
    note: Type.Optional(nullable(Type.String({ maxLength: noteMax }))),
    accepted: Type.Optional(Type.Boolean()),
  }),
  reply: summarySchema,
  handle: async ({ params: { id }, body }, context: Context) => {
    const { services, change } = context;
    const stored = await find(context, id);
    if (body.accepted === true && stored.summary === undefined)
      throw new AdminProblem('conflict', 'The comparison has no result; only a result can be accepted.');
    const { note, accepted } = body;
    const edit = { ...(note !== undefined && { note }), ...(accepted !== undefined && { accepted }) };
    if (!(await services.reconciliations.changeReconciliation(id, edit, change()))) throw notFound('reconciliation of this id');
    const version = await services.audit.subjectVersion(subject({ id }));
    return { body: await encode(context, await find(context, id)), version };
  },
});

const callSchema = record({
  call_id: Type.String(),
  accepted_at: Type.String(),
  user: Type.String(),
  upstream: Type.String(),
  upstream_request_id: nullable(Type.String()),
  usage: Type.Record(Type.String(), Type.Integer()),
  end: Type.String(),
  signs: Type.Array(Type.Enum(signs)),
  explains_difference: Type.Boolean({ description: 'It alone is what the ledger has more.' }),
  failed_attempts: Type.Integer(),
});

const encodeCall = (call: ListedCall, classes: readonly string[]): Static<typeof callSchema> => ({
  call_id: call.callId,
  accepted_at: instant(call.acceptedAtMs),
  user: call.userName,
  upstream: call.upstream,
  upstream_request_id: call.upstreamRequestId ?? null,
  usage: Object.fromEntries(Object.entries(call.counts).filter(([name]) => classes.includes(name))),
  end: call.end,
  signs: [...call.signs],
  explains_difference: call.explains,
  failed_attempts: call.failedAttempts,
});

/** A page ends after so much work: a day may have a million calls, of which a model has few. */
const workMs = 2000;
const pageRows = 500;
const placeSchema = Type.Object({ acceptedAtMs: Type.Number(), callId: Type.String() });

export const listReconciledCalls = operation({
  id: 'reconciliations.calls',
  method: 'GET',
  path: '/reconciliations/{id}/calls',
  summary: 'The calls of one model and day, oldest first; a page may end before its limit, and the cursor continues',
  access: 'reconcile:run',
  params,
  query: record({ model: Type.String({ maxLength: 256 }), day: Type.String({ maxLength: 10 }), ...pageQuery }),
  reply: pageSchema(callSchema),
  handle: async ({ params: { id }, query }, context: Context) => {
    const { services, nowMs, signal } = context;
    const { limit = pageRowsDefault, cursor, model, day } = query;
    const { comparison, cell, span } = await findCell(context, id, { model, day });
    const question = { list: 'reconciled calls', id, model, day };
    let after = cursor === undefined ? undefined : readPosition(placeSchema, services.cursors.read(question, cursor));
    const classes = cell.usage.map(({ usageClass }) => usageClass);
    const items: Static<typeof callSchema>[] = [];
    const untilMs = nowMs() + workMs;
    let isOver = false;
    while (!isOver && items.length < limit && nowMs() < untilMs) {
      signal.throwIfAborted();
      const page = await services.ledger.listEntriesBetween({ ...span, limit: pageRows, ...(after !== undefined && { after }) });
      isOver = page.length < pageRows;
      for (const entry of page) {
        after = { acceptedAtMs: entry.acceptedAtMs, callId: entry.callId };
        const call = comparison.callOf(entry, cell);
        if (call !== undefined) items.push(encodeCall(listedCall(call), classes));
        if (items.length < limit) continue;
        isOver &&= entry === page.at(-1);
        break;
      }
    }
    const next_cursor = isOver || after === undefined ? null : services.cursors.write(question, after);
    return { body: { items, next_cursor, as_of: instant(nowMs()) } };
  },
});

/** The comparison of a cell. @throws AdminProblem */
async function findCell(context: Context, id: string, { model, day }: { readonly model: string; readonly day: string }) {
  const { vendor, upstream, kind, summary } = await find(context, id);
  const stored = await context.services.reconciliations.readReconciliation(id);
  if (stored?.result === undefined || summary === undefined) throw new AdminProblem('conflict', 'The comparison has no result.');
  const account = decodeAccount(stored.account);
  const compared = decodeCompared(stored.result);
  if (account.kind !== 'usage' || compared.kind !== 'usage')
    throw new AdminProblem('conflict', `Calls can be listed for an export of usage; this is one of ${kind}.`);
  const cell = compared.cells.find((each) => each.model === model && each.day === day);
  if (cell === undefined) throw notFound('model and day in this comparison');
  const { usage } = account;
  const source = { vendor: vendorExports[vendor]?.ledgerVendor ?? vendor, ...(upstream !== undefined && { upstream }) };
  const span = {
    startMs: Math.max(usage.startMs, startOfDay(usage.timeZone, day)),
    endMs: Math.min(usage.endMs, startOfDay(usage.timeZone, day, 1)),
  };
  return { comparison: new Reconciliation(usage, source), cell, span };
}

export const reconciliationOperations: readonly Operation<ReconciliationServices>[] = [
  listReconciliations,
  getReconciliation,
  updateReconciliation,
  listReconciledCalls,
];
