import { OperationFailure, type OperationHandler } from '../../control/operations/operation-runner.ts';
import type { ReconcilingInput } from '../../admin/resources/reconciliations/create-reconciliation.ts';
import { findNamedBook } from '../../billing/price-books/find-named-book.ts';
import type { PriceDesk } from '../../billing/price-books/price-desk.ts';
import { PriceBookError } from '../../billing/rating/parse-price-book.ts';
import { createPriceBook } from '../../billing/rating/price-book.ts';
import { compareAccount, encodeCompared, summarize, TooManyCellsError } from '../../billing/reconciliation/compare-account.ts';
import { decodeAccount } from '../../billing/reconciliation/vendor-account.ts';
import { vendorExports } from '../../billing/reconciliation/vendor-exports.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Store } from '../../store/store.ts';

/**
 * Compares an account, which is in the store, with the ledger. After the end of a process another one begins it again,
 * because nothing of it is on a disk.
 */
export function createReconciling({
  store,
  clock,
  desk,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly desk: PriceDesk;
}): OperationHandler {
  return async (input, { signal, report }) => {
    const { reconciliation_id: id } = input as ReconcilingInput;
    const [found, stored] = await Promise.all([store.findReconciliation(id), store.readReconciliation(id)]);
    if (found === undefined || stored === undefined) throw new OperationFailure('not_found', 'The reconciliation was deleted.');
    const { vendor, upstream, tolerance, prices } = found;
    const listPrices = async () => {
      const book = await findNamedBook(prices, { store, desk });
      if (book === undefined) throw new OperationFailure('not_found', `There is no price book ${prices} any more.`);
      return createPriceBook({ book });
    };
    try {
      const compared = await compareAccount(decodeAccount(stored.account), {
        store,
        source: { vendor: vendorExports[vendor]?.ledgerVendor ?? vendor, ...(upstream !== undefined && { upstream }) },
        listPrices,
        signal,
        report: (done) => report({ done, unit: 'rows' }),
      });
      const summary = summarize(compared, Number(tolerance));
      await store.finishReconciliation(id, { result: encodeCompared(compared), summary, endedAtMs: clock.nowMs() });
      return { reconciliation_id: id, compared: summary.compared, differing: summary.differing, over_tolerance: summary.over };
    } catch (cause) {
      if (cause instanceof TooManyCellsError) throw new OperationFailure('too_many_cells', cause.message, { cause });
      if (cause instanceof PriceBookError) throw new OperationFailure('invalid_request', cause.message, { cause });
      throw cause;
    }
  };
}
