import { Type } from 'typebox';

import { findNamedBook } from '../../../billing/price-books/find-named-book.ts';
import type { PriceBookStore } from '../../../billing/price-books/price-book-store.ts';
import type { PriceDesk } from '../../../billing/price-books/price-desk.ts';
import type { ExportReader } from '../../../billing/reconciliation/export-reader.ts';
import type { StoredReconciliation } from '../../../billing/reconciliation/reconciliation-store.ts';
import { readTolerance } from '../../../billing/reconciliation/tolerance.ts';
import { decodeAccount } from '../../../billing/reconciliation/vendor-account.ts';
import { vendorExports } from '../../../billing/reconciliation/vendor-exports.ts';
import { ExportError } from '../../../billing/reconciliation/vendor-usage.ts';
import { JobError } from '../../../platform/isolation/isolated-job.ts';
import { request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { AdminProblem, invalidField, unavailable } from '../../problem.ts';
import { answerStarted, operationSchema } from '../operations/operation-resource.ts';
import type { ReconciliationServices } from './reconciliation-operations.ts';

export type CreateReconciliationServices = ReconciliationServices & {
  readonly exportReader: Pick<ExportReader, 'read'>;
  readonly priceBooks: Pick<PriceBookStore, 'newestPriceBook' | 'findPriceBook' | 'findRecordedPrices'>;
  readonly priceDesk: PriceDesk;
  readonly newId: (prefix: string) => string;
};
type Context = AdminContext<CreateReconciliationServices>;

/** The kind of operations that compare an account with the ledger. */
export const reconcilingKind = 'reconciliations.run';

/** The input of such an operation. */
export type ReconcilingInput = { readonly reconciliation_id: string };

const day = (description: string) => Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description }));

export const createReconciliation = operation({
  id: 'reconciliations.create',
  method: 'POST',
  path: '/reconciliations',
  summary: "Reads a vendor's export of usage or costs, and compares it with the ledger; an operation",
  access: 'reconcile:run',
  status: 202,
  takesFile: true,
  body: request({
    vendor: Type.Enum(Object.keys(vendorExports)),
    upstream: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Only calls to this upstream, if the export covers one account.' }),
    ),
    from: day("The first day, in the vendor's time zone; all of the export unless given."),
    to: day('The end day, not included.'),
    tolerance: Type.Optional(Type.String({ maxLength: 9, description: 'Tolerated differences in percent, such as 0.5; 0 unless given.' })),
    prices: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'The book of list prices for costs: in_force (unless given), shipped, the number of a published book, or a price version.',
      }),
    ),
  }),
  reply: operationSchema,
  handle: async ({ body }, context: Context) => {
    const { services, principal, change, nowMs } = context;
    if (principal.users !== 'all')
      throw new AdminProblem('permission_required', "A vendor's account is about all users; yours are limited to some.");
    const { vendor, upstream, tolerance = '0', prices = 'in_force' } = body;
    if (readTolerance(tolerance) === undefined)
      throw invalidField('/tolerance', 'percentage', `The field tolerance must be a percentage such as 0.5; got "${tolerance}".`);
    await assertBook(context, prices);
    const { account, file } = await readAccount(context, body);
    const decoded = decodeAccount(account);
    const { timeZone, startMs, endMs } = decoded.kind === 'usage' ? decoded.usage : decoded.costs;
    const id = services.newId('rec');
    const added: StoredReconciliation = {
      id,
      createdAtMs: nowMs(),
      actor: principal.author.actor,
      vendor,
      ...(upstream !== undefined && { upstream }),
      kind: decoded.kind,
      timeZone,
      startMs,
      endMs,
      tolerance,
      prices,
      file,
    };
    await services.reconciliations.insertReconciliation(added, account);
    const input: ReconcilingInput = { reconciliation_id: id };
    const started = { kind: reconcilingKind, permission: 'reconcile:run', input, change: change(), isAudited: true } as const;
    const begun = await services.operations.start(started).catch(async (error: unknown) => {
      await services.reconciliations.dropReconciliation(id);
      throw error;
    });
    await services.reconciliations.setReconciliationOperation(id, begun.id);
    return answerStarted(begun);
  },
});

/** @throws AdminProblem `invalid_request` */
async function assertBook({ services }: Context, prices: string): Promise<void> {
  if (prices === 'in_force') return;
  if ((await findNamedBook(prices, { store: services.priceBooks, desk: services.priceDesk })) !== undefined) return;
  const detail = `The field prices must be in_force, shipped, the number of a published book, or a price version; there is no "${prices}".`;
  throw invalidField('/prices', 'unknown', detail);
}

/** Reads the file of the request in a thread. @throws AdminProblem `invalid_request` with the place in the file */
async function readAccount(
  { services, principal, signal, upload }: Context,
  { vendor, from, to }: { readonly vendor: string; readonly from?: string; readonly to?: string },
): Promise<{ readonly account: string; readonly file: StoredReconciliation['file'] }> {
  if (upload === undefined) throw new AdminProblem('unsupported_type', 'The export must be sent as a file.');
  const { name, bytes, sha256, readAt } = upload;
  const order = { vendor, bytes, from, to };
  const options = { tenant: principal.author.actor, signal };
  const account = await services.exportReader
    .read(order, ({ start, end }) => readAt(start, end), options)
    .catch((error: unknown) => {
      if (error instanceof ExportError) throw invalidField('/file', 'export', `${capital(error.message)}.`);
      if (error instanceof JobError) throw unavailable('Too many exports wait to be read; try again.', error);
      throw error;
    });
  return { account, file: { name, bytes, sha256 } };
}

const capital = (sentence: string): string => `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;

export const createReconciliationOperations: readonly Operation<CreateReconciliationServices>[] = [createReconciliation];
