import { readFileSync } from 'node:fs';

import type { Command } from 'commander';

import { readEntries } from '../../billing/ledger/read-entries.ts';
import { createPriceBook } from '../../billing/rating/price-book.ts';
import { CostReconciliation } from '../../billing/reconciliation/cost-reconciliation.ts';
import { type CellCall, Reconciliation, type ReconciledCell } from '../../billing/reconciliation/reconciliation.ts';
import { vendorExports } from '../../billing/reconciliation/vendor-exports.ts';
import type { VendorCosts } from '../../billing/reconciliation/vendor-costs.ts';
import { ExportError, startOfDay, type VendorUsage } from '../../billing/reconciliation/vendor-usage.ts';
import type { LedgerStore } from '../../billing/ledger/ledger-store.ts';
import { describeFailure } from '../programs/describe-failure.ts';
import { type Environment, StartError } from '../environment.ts';
import { describeCosts, isCostOver, writeCosts } from './describe-costs.ts';
import { loadConfigAndPrices, readNamedBook } from './stored-prices.ts';
import { describeCalls, describeCells, isOver, writeCalls, writeCells } from './describe-reconciliation.ts';
import { readStore } from './with-accounts.ts';

/** The exit codes of `weir reconcile`: both accounts agree, they differ, or they could not be compared. */
const exitCodes = { agree: 0, differ: 1, trouble: 2 } as const;
/** Listed calls of one cell. */
const callsMax = 1000;

type ReconcileOptions = {
  readonly vendor: string;
  readonly upstream?: string;
  readonly from?: string;
  readonly to?: string;
  readonly tolerance: string;
  readonly calls?: string;
  readonly prices?: string;
  readonly json?: boolean;
};

/** Adds `weir reconcile`, which compares a vendor's account of the usage with the ledger. It only reads. */
export function addReconcileCommand(program: Command, environment: () => Environment): void {
  program
    .command('reconcile')
    .description(
      "compares a vendor's export of usage or costs with the ledger, by model, day and class of usage. Exit code 0: they agree, 1: they differ, 2: trouble",
    )
    .argument('<file>', 'the export; docs/guide/reconciliation.md describes the formats')
    .requiredOption('--vendor <vendor>', `the vendor of the export: ${Object.keys(vendorExports).join(', ')}`)
    .option('--upstream <name>', 'only calls to this upstream of the configuration, if the export covers one account')
    .option('--from <day>', "first day, in the vendor's time zone; default: all of the export")
    .option('--to <day>', 'end day, not included')
    .option('--tolerance <percent>', 'tolerates differences up to this percentage', '0')
    .option('--calls <model:day>', 'lists the calls of one model on one day')
    .option(
      '--prices <book>',
      'for costs: the price book of the vendor, named as for weir prices diff; default: the book in force, without prices and factors of the configuration',
    )
    .option('--json', 'as JSON')
    .action(async (file: string, options: ReconcileOptions) => {
      try {
        process.exitCode = await reconcile(environment(), file, options);
      } catch (error) {
        // For any error: exit code 1 would mean that the accounts were compared and differ.
        console.error(`weir: ${error instanceof ExportError ? `${file}: ${error.message}` : describeFailure(error)}`);
        process.exitCode = exitCodes.trouble;
      }
    });
}

async function reconcile(environment: Environment, file: string, options: ReconcileOptions): Promise<number> {
  const source = vendorExports[options.vendor];
  if (source === undefined) throw new StartError(`--vendor must be one of ${Object.keys(vendorExports).join(', ')}`);
  const tolerance = /^\d{1,2}(\.\d{1,6})?$/.test(options.tolerance) ? Number(options.tolerance) : undefined;
  if (tolerance === undefined) throw new StartError(`--tolerance must be a percentage such as 0.5; got "${options.tolerance}"`);
  const text = readText(file);
  const account = { vendor: source.ledgerVendor, ...(options.upstream === undefined ? {} : { upstream: options.upstream }) };
  const costs = source.readCosts(text);
  if (costs !== undefined) return await reconcileCosts(environment, costs, { ...options, account, tolerance });
  const theirs = limitRows(source.read(text), options);
  const reconciliation = new Reconciliation(theirs, account);
  return await readStore(environment, async (store) => {
    for await (const entry of readEntries(store, theirs)) reconciliation.add(entry);
    const cells = reconciliation.cells();
    if (options.calls === undefined) {
      const compared = { ...theirs, leftOut: reconciliation.leftOut() };
      const words = options.json === true ? writeCells(cells, compared, tolerance) : describeCells(cells, compared, tolerance);
      console.log(words);
    } else {
      const cell = findCell(cells, options.calls);
      const calls = await listCalls(store, reconciliation, theirs, cell);
      console.log(options.json === true ? writeCalls(cell, calls) : describeCalls(cell, calls));
    }
    return cells.some(({ usage }) => usage.some((compared) => isOver(compared, tolerance))) ? exitCodes.differ : exitCodes.agree;
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`the export ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Compares costs: the usage of the ledger at list prices, without the factors of users and keys. */
async function reconcileCosts(
  environment: Environment,
  costs: VendorCosts,
  options: Omit<ReconcileOptions, 'tolerance'> & {
    readonly account: { readonly vendor: string; readonly upstream?: string };
    readonly tolerance: number;
  },
): Promise<number> {
  if (options.calls !== undefined) throw new StartError('--calls needs an export of usage; this is an export of costs');
  const span = limitDays(costs, options);
  const theirs = { ...costs, ...span, costs: costs.costs.filter(({ startMs }) => startMs >= span.startMs && startMs < span.endMs) };
  const { prices } = options;
  const book = prices === undefined ? (await loadConfigAndPrices(environment)).priceBookData : await readNamedBook(environment, prices);
  const reconciliation = new CostReconciliation(theirs, { ...options.account, listPrices: createPriceBook({ book }) });
  await readStore(environment, async (store) => {
    for await (const entry of readEntries(store, theirs)) reconciliation.add(entry);
  });
  console.log((options.json === true ? writeCosts : describeCosts)(reconciliation, theirs, options.tolerance));
  return reconciliation.costs().some((cost) => isCostOver(cost, options.tolerance)) ? exitCodes.differ : exitCodes.agree;
}

/** The rows of an export between two days. */
function limitRows(theirs: VendorUsage, options: ReconcileOptions): VendorUsage {
  const span = limitDays(theirs, options);
  return { ...theirs, ...span, rows: theirs.rows.filter((row) => row.startMs >= span.startMs && row.startMs < span.endMs) };
}

type Span = Pick<VendorUsage, 'startMs' | 'endMs'>;

function limitDays(theirs: Span & Pick<VendorUsage, 'timeZone'>, { from, to }: Pick<ReconcileOptions, 'from' | 'to'>): Span {
  const startMs = from === undefined ? theirs.startMs : Math.max(theirs.startMs, startOfDay(theirs.timeZone, from));
  const endMs = to === undefined ? theirs.endMs : Math.min(theirs.endMs, startOfDay(theirs.timeZone, to));
  if (startMs >= endMs) throw new StartError('the export has nothing between --from and --to');
  return { startMs, endMs };
}

function findCell(cells: readonly ReconciledCell[], text: string): ReconciledCell {
  const at = text.lastIndexOf(':');
  const cell = cells.find(({ model, day }) => model === text.slice(0, at) && day === text.slice(at + 1));
  if (cell === undefined)
    throw new StartError(`--calls ${text}: neither side has this model on this day; write it as the table does, model:day`);
  return cell;
}

/**
 * The calls of a cell, by time: first those that explain the difference, then those with a sign, then the others. Calls
 * beyond `callsMax` are left out.
 */
async function listCalls(
  store: Pick<LedgerStore, 'listEntriesBetween'>,
  reconciliation: Reconciliation,
  span: VendorUsage,
  cell: ReconciledCell,
): Promise<readonly CellCall[]> {
  const striking: CellCall[] = [];
  const others: CellCall[] = [];
  const startMs = Math.max(span.startMs, startOfDay(span.timeZone, cell.day));
  const endMs = Math.min(span.endMs, startOfDay(span.timeZone, cell.day, 1));
  for await (const entry of readEntries(store, { startMs, endMs })) {
    const call = reconciliation.callOf(entry, cell);
    if (call === undefined) continue;
    const list = call.explains || call.signs.length > 0 ? striking : others;
    if (list.length < callsMax) list.push(call);
  }
  return [...striking.filter(({ explains }) => explains), ...striking.filter(({ explains }) => !explains), ...others].slice(0, callsMax);
}
