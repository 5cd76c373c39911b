import { Type } from 'typebox';

import { maySee, type UserScope } from '../../../accounts/people/principal.ts';
import type { CallEntry } from '../../../billing/ledger/call-entry.ts';
import type { LedgerStore } from '../../../billing/ledger/ledger-store.ts';
import { buildReceipt } from '../../../billing/receipts/build-receipt.ts';
import { callIdOf } from '../../../billing/receipts/call-id-of.ts';
import { verifyReceiptText } from '../../../billing/receipts/verify-receipt.ts';
import { record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';

export type ReceiptServices = { readonly ledger: Pick<LedgerStore, 'listCallRows' | 'findReplyOwner'> };
type Context = AdminContext<ReceiptServices>;

const idParams = record({ id: Type.String({ maxLength: 200, description: 'The id of the call, or an id in its reply.' }) });

/** The rows of a call that may be seen. @throws AdminProblem `not_found` */
async function findRows({ ledger }: ReceiptServices, users: UserScope, id: string): Promise<[CallEntry, ...CallEntry[]]> {
  const callId = callIdOf(id);
  let rows = await ledger.listCallRows(callId);
  if (rows[0]?.callId !== callId) {
    const owner = await ledger.findReplyOwner(id);
    rows = owner === undefined ? [] : await ledger.listCallRows(owner.callId);
  }
  const [call, ...parts] = rows;
  if (call === undefined || !maySee(users, call.userName)) throw notFound('call of this id in the books');
  return [call, ...parts];
}

const receiptSchema = Type.Object(
  {},
  { additionalProperties: true, description: 'A receipt, as GET /v1/receipts/{id} of the gateway returns it.' },
);

export const getReceipt = operation({
  id: 'receipts.get',
  method: 'GET',
  path: '/calls/{id}/receipt',
  summary: 'What a call cost, and why',
  access: 'calls:read',
  params: idParams,
  reply: receiptSchema,
  handle: async ({ params }, { services, principal }: Context) => ({
    body: buildReceipt(await findRows(services, principal.users, params.id), true),
  }),
});

const verifyReceipt = operation({
  id: 'receipts.verify',
  method: 'POST',
  path: '/calls/{id}/receipt/verify',
  summary: 'Recomputes the receipt of a call',
  access: 'calls:read',
  params: idParams,
  reply: record({
    is_right: Type.Boolean(),
    problems: Type.Array(record({ path: Type.String(), problem: Type.String() })),
  }),
  handle: async ({ params }, { services, principal }: Context) => {
    const receipt = buildReceipt(await findRows(services, principal.users, params.id), true);
    const { problems } = verifyReceiptText(JSON.stringify(receipt));
    return { body: { is_right: problems.length === 0, problems: problems.map(({ path, problem }) => ({ path, problem })) } };
  },
});

export const receiptOperations: readonly Operation<ReceiptServices>[] = [getReceipt, verifyReceipt];
