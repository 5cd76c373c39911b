import { readEntries } from '../ledger/read-entries.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import type { PriceBook } from '../rating/rating.ts';
import { CostReconciliation } from './cost-reconciliation.ts';
import type { ComparedCost, ChargedDay } from './cost-reconciliation.ts';
import { Reconciliation, type ReconciledCell } from './reconciliation.ts';
import type { ReconciliationSummary } from './reconciliation-store.ts';
import { isCostDifferent, isCostOver, isOver } from './tolerance.ts';
import type { VendorAccount } from './vendor-account.ts';

/** Models times days of a result. The ledger may have models that the export lacks. */
const cellsMax = 40_000;

/** The compared cells of usage, or the compared costs, and the names of data that were not compared. */
export type ComparedAccount = { readonly unread: readonly string[] } & (
  | { readonly kind: 'usage'; readonly cells: readonly ReconciledCell[]; readonly leftOut: ReturnType<Reconciliation['leftOut']> }
  | { readonly kind: 'costs'; readonly costs: readonly ComparedCost[]; readonly charged: readonly ChargedDay[] }
);

type Parts = {
  readonly store: Pick<LedgerStore, 'listEntriesBetween'>;
  readonly source: { readonly vendor: string; readonly upstream?: string };
  /** For costs: the vendor's list prices. */
  readonly listPrices: () => Promise<PriceBook>;
  readonly signal: AbortSignal;
  readonly report: (rows: number) => void;
};

/** A comparison that has more cells than a result may have. */
export class TooManyCellsError extends Error {
  override readonly name = 'TooManyCellsError';
}

/**
 * Compares an account with the rows of the ledger in its time.
 * @throws TooManyCellsError; rejects with the store's error, or the signal's reason
 */
export async function compareAccount(account: VendorAccount, parts: Parts): Promise<ComparedAccount> {
  const { store, source, listPrices, signal, report } = parts;
  const span = account.kind === 'usage' ? account.usage : account.costs;
  const comparison =
    account.kind === 'usage'
      ? new Reconciliation(account.usage, source)
      : new CostReconciliation(account.costs, { ...source, listPrices: await listPrices() });
  let rows = 0;
  for await (const entry of readEntries(store, span)) {
    signal.throwIfAborted();
    comparison.add(entry);
    rows += 1;
    if (rows % 500 === 0) report(rows);
  }
  report(rows);
  const compared: ComparedAccount =
    comparison instanceof Reconciliation
      ? { kind: 'usage', cells: comparison.cells(), leftOut: comparison.leftOut(), unread: span.unread }
      : { kind: 'costs', costs: comparison.costs(), charged: comparison.charged(), unread: span.unread };
  const cells = compared.kind === 'usage' ? compared.cells.length : compared.costs.length;
  if (cells > cellsMax)
    throw new TooManyCellsError(`The comparison has ${cells} models and days; at most ${cellsMax} are kept: compare fewer days.`);
  return compared;
}

/** The sums of a comparison. @param tolerance in percent */
export function summarize(compared: ComparedAccount, tolerance: number): ReconciliationSummary {
  if (compared.kind === 'usage') {
    const { cells } = compared;
    return {
      compared: cells.length,
      differing: cells.filter(({ usage }) => usage.some(({ difference }) => difference !== 0)).length,
      over: cells.filter(({ usage }) => usage.some((each) => isOver(each, tolerance))).length,
    };
  }
  const { costs, charged } = compared;
  const sum = (amounts: readonly bigint[]): string => String(amounts.reduce((total, amount) => total + amount, 0n));
  return {
    compared: costs.length,
    differing: costs.filter(isCostDifferent).length,
    over: costs.filter((cost) => isCostOver(cost, tolerance)).length,
    listNanoUsd: sum(costs.map(({ listNanoUsd }) => listNanoUsd)),
    theirNanoUsd: sum(costs.map(({ theirNanoUsd }) => theirNanoUsd)),
    chargedNanoUsd: sum(charged.map(({ chargedNanoUsd }) => chargedNanoUsd)),
  };
}

/** A comparison as JSON text; amounts are texts that end with `n`. */
export function encodeCompared(compared: ComparedAccount): string {
  return JSON.stringify(compared, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

/** Reads the text of encodeCompared. */
export function decodeCompared(text: string): ComparedAccount {
  const amount = (value: unknown): unknown => (typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value);
  // Written by encodeCompared. Names of models may end with n, so only members that are amounts are converted.
  return JSON.parse(text, (name, value: unknown) => (name.endsWith('NanoUsd') ? amount(value) : value)) as ComparedAccount;
}
