import { type Static, Type } from 'typebox';

import { maySee } from '../../../accounts/people/principal.ts';
import type { CallEntry } from '../../../billing/ledger/call-entry.ts';
import { DisputeError, usageAfter } from '../../../billing/ledger/decide-dispute.ts';
import type { DisputedRow, LedgerStore } from '../../../billing/ledger/ledger-store.ts';
import { settlementRowId } from '../../../billing/ledger/row-ids.ts';
import { isCountName, readCounts, writeCounts } from '../../../billing/receipts/count-names.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { instant, instantQuery, moneySchema, nullable, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { AdminProblem, invalidField, notFound } from '../../problem.ts';
import { answerStarted, operationSchema, type OperationServices } from '../operations/operation-resource.ts';
import type { ControlServices } from '../nodes/live-nodes.ts';
import { booksOperation } from '../books-operation.ts';

export type DisputeServices = ControlServices &
  OperationServices & {
    readonly ledger: Pick<LedgerStore, 'listDisputed' | 'listUnpriced' | 'findEntry'>;
  };
type Context = AdminContext<DisputeServices>;

/** The kind of the long operation that books a decision: gateways have the right to book, consoles do not. */
export const settleDisputeKind = 'disputes.settle';
const rowsMax = 1000;
const countMax = 10_000_000_000;

const counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description });
const decisions = ['accepted', 'corrected'] as const;
const disputeSchema = record(
  {
    id: Type.String({ description: 'The id of the row: of the call, or of a part of it.' }),
    accepted_at: Type.String(),
    user: Type.String(),
    key: Type.String(),
    model: Type.String(),
    upstream: Type.String(),
    upstream_request_id: nullable(Type.String()),
    figures: Type.Array(
      record({
        count: Type.String(),
        reason: Type.String(),
        reported: nullable(Type.Number()),
        most: nullable(Type.Number({ description: 'The most that the call could have.' })),
      }),
    ),
    reported: counts('What the upstream reported, with the names of receipts.'),
    usage_reported: Type.Unknown({ description: "The upstream's own words; null if they were not kept." }),
    charged: counts('What the call was charged for.'),
    charged_amount: moneySchema,
    settlement: nullable(
      record({
        decision: Type.Enum(decisions),
        by: Type.String(),
        at: Type.String(),
        note: nullable(Type.String()),
        difference: moneySchema,
      }),
    ),
  },
  'A row of the books whose upstream reported impossible figures.',
);

function encodeDispute({ entry, settlement }: DisputedRow): Static<typeof disputeSchema> {
  const { figures = [], reported = {} } = entry.disputed ?? {};
  return {
    id: entry.callId,
    accepted_at: instant(entry.acceptedAtMs),
    user: entry.userName,
    key: entry.keyName,
    model: entry.requestedModel,
    upstream: entry.upstream,
    upstream_request_id: entry.upstreamRequestId ?? null,
    figures: figures.map((figure) => ({
      count: figure.count,
      reason: figure.reason,
      reported: figure.reported ?? null,
      most: figure.most ?? null,
    })),
    reported: writeCounts(reported),
    usage_reported: entry.rawUsage ?? null,
    charged: writeCounts(entry.usage),
    charged_amount: formatMoney(entry.charge.amountNanoUsd),
    settlement: settlement === undefined ? null : encodeSettlement(settlement),
  };
}

function encodeSettlement({ settlement, charge }: CallEntry): Static<typeof disputeSchema>['settlement'] {
  if (settlement === undefined) return null;
  const { decision, by, atMs, note } = settlement;
  return { decision, by, at: instant(atMs), note: note ?? null, difference: formatMoney(charge.amountNanoUsd) };
}

/** The users whose rows are read; undefined for all. */
function usersOf(asked: string | undefined, { users }: Context['principal']): readonly string[] | undefined {
  const user = asked?.normalize('NFC');
  if (user === undefined) return users === 'all' ? undefined : users;
  return maySee(users, user) ? [user] : [];
}

const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: rowsMax, description: 'At most so many; 100 unless given.' }));
const userQuery = Type.Optional(Type.String({ maxLength: 256 }));

export const listDisputes = booksOperation({
  id: 'disputes.list',
  method: 'GET',
  path: '/disputes',
  summary: 'Rows of the books whose upstream reported impossible figures, newest first',
  access: 'calls:read',
  query: record({
    user: userQuery,
    settled: Type.Optional(Type.Boolean({ description: 'Also those that an operator has decided. Default: false.' })),
    limit,
  }),
  reply: pageSchema(disputeSchema),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const users = usersOf(query.user, principal);
    const filter = { limit: query.limit ?? 100, settled: query.settled ?? false, ...(users !== undefined && { users }) };
    const rows = await services.ledger.listDisputed(filter);
    return { body: { items: rows.map(encodeDispute), next_cursor: null, as_of: instant(nowMs()) } };
  },
});

export const settleDisputed = operation({
  id: 'disputes.settle',
  method: 'POST',
  path: '/disputes/{id}/settle',
  summary: 'Books the counts that the upstream reported, or others, in a gateway; the first decision about a row is final',
  access: 'credits:write',
  recentSignIn: true,
  keyRequired: true,
  status: 202,
  params: record({ id: Type.String({ maxLength: 200 }) }),
  body: request({
    decision: Type.Enum(decisions),
    counts: Type.Optional(
      Type.Record(Type.String({ maxLength: 64 }), Type.Integer({ minimum: 0, maximum: countMax }), {
        maxProperties: 50,
        description: 'Of a correction, with the names of receipts: output_tokens. Others stay as charged.',
      }),
    ),
    note: Type.Optional(Type.String({ maxLength: 1000, description: 'The receipt shows it.' })),
  }),
  reply: operationSchema,
  handle: async ({ params: { id }, body }, context: Context) => {
    const { services, principal } = context;
    const { decision, counts: given = {}, note } = body;
    const wrong = Object.keys(given).find((name) => !isCountName(name));
    if (wrong !== undefined)
      throw invalidField('/counts', 'count', `"${wrong}" is not the name of a count in receipts, such as output_tokens.`);
    if (decision === 'accepted' && body.counts !== undefined)
      throw invalidField('/counts', 'count', 'The field counts belongs to a correction; the decision accepted books what was reported.');
    const entry = await services.ledger.findEntry(id);
    if (entry === undefined || !maySee(principal.users, entry.userName)) throw notFound('row of this id in the books');
    checkDecision(entry, { decision, counts: readCounts(given) });
    if ((await services.ledger.findEntry(settlementRowId(id))) !== undefined)
      throw new AdminProblem('conflict', `The row ${id} was settled before; nothing was booked.`);
    const started = await services.operations.start({
      kind: settleDisputeKind,
      permission: 'credits:write',
      input: { row_id: id, decision, counts: given, note: note ?? null },
      change: context.change(),
      // The gateway writes its row of the audit log when it books.
      isAudited: false,
      startWithinMs: 30_000,
    });
    return answerStarted(started);
  },
});

/** @throws AdminProblem `conflict` if the decision cannot be booked */
function checkDecision(entry: CallEntry, decision: Parameters<typeof usageAfter>[1]): void {
  try {
    usageAfter(entry, decision);
  } catch (cause) {
    if (cause instanceof DisputeError) throw new AdminProblem('conflict', `${cause.message}.`, { cause });
    throw cause;
  }
}

export const listUnpricedModels = booksOperation({
  id: 'calls.unpriced',
  method: 'GET',
  path: '/calls/unpriced',
  summary: 'Models whose calls were charged 0 because they have no price, those with most calls first',
  access: 'calls:read',
  query: record({
    user: userQuery,
    from: instantQuery('Calls accepted at or after it.'),
    to: instantQuery('Calls accepted before it.'),
    limit,
  }),
  reply: pageSchema(record({ model: Type.String(), calls: Type.Integer(), last_accepted_at: Type.String() })),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const users = usersOf(query.user, principal);
    const models = await services.ledger.listUnpriced({
      startMs: Date.parse(query.from),
      endMs: Date.parse(query.to),
      limit: query.limit ?? 100,
      ...(users !== undefined && { users }),
    });
    const items = models.map(({ requestedModel, calls, lastMs }) => ({ model: requestedModel, calls, last_accepted_at: instant(lastMs) }));
    return { body: { items, next_cursor: null, as_of: instant(nowMs()) } };
  },
});

export const disputeOperations: readonly Operation<DisputeServices>[] = [listDisputes, settleDisputed, listUnpricedModels];
