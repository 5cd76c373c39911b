import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

import type { Command } from 'commander';

import { AdminProblem } from '../../admin/problem.ts';
import type { LedgerStore } from '../../billing/ledger/ledger-store.ts';
import { readEntries } from '../../billing/ledger/read-entries.ts';
import { createPriceBook } from '../../billing/rating/price-book.ts';
import { listedCall, type ListedCall, orderCalls } from '../../billing/reconciliation/cell-calls.ts';
import { CostReconciliation } from '../../billing/reconciliation/cost-reconciliation.ts';
import { readExport } from '../../billing/reconciliation/read-export-job.ts';
import { Reconciliation, type ReconciledCell } from '../../billing/reconciliation/reconciliation.ts';
import { isCostOver, isOver, readTolerance } from '../../billing/reconciliation/tolerance.ts';
import { limitAccount } from '../../billing/reconciliation/vendor-account.ts';
import type { VendorCosts } from '../../billing/reconciliation/vendor-costs.ts';
import { vendorExports } from '../../billing/reconciliation/vendor-exports.ts';
import { ExportError, startOfDay, type VendorUsage } from '../../billing/reconciliation/vendor-usage.ts';
import { type Environment, StartError } from '../environment.ts';
import { describeFailure } from '../programs/describe-failure.ts';
import { describeCosts, writeCosts } from './describe-costs.ts';
import { describeCalls, describeCells, writeCalls, writeCells } from './describe-reconciliation.ts';
import { reconcileRemotely, type RemoteReconciliation } from './reconcile-remotely.ts';
import { addRemoteOption, type RemoteOption } from './remote/with-service.ts';
import { loadConfigAndPrices, readNamedBook } from './stored-prices.ts';
import { readCalls } from './with-accounts.ts';

/** The exit codes of `weir reconcile`: both accounts agree, they differ, or they could not be compared. */
const exitCodes = { agree: 0, differ: 1, trouble: 2 } as const;

type ReconcileOptions = RemoteOption & {
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
  addRemoteOption(program.command('reconcile'))
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
        console.error(`weir: ${isAboutFile(error) ? `${file}: ${error.message}` : describeFailure(error)}`);
        process.exitCode = exitCodes.trouble;
      }
    });
}

/** Whether an error is about the content of the export, which a console may have read. */
function isAboutFile(error: unknown): error is Error {
  return error instanceof ExportError || (error instanceof AdminProblem && error.errors.some(({ pointer }) => pointer === '/file'));
}

async function reconcile(environment: Environment, file: string, options: ReconcileOptions): Promise<number> {
  const source = vendorExports[options.vendor];
  if (source === undefined) throw new StartError(`--vendor must be one of ${Object.keys(vendorExports).join(', ')}`);
  const tolerance = readTolerance(options.tolerance);
  if (tolerance === undefined) throw new StartError(`--tolerance must be a percentage such as 0.5; got "${options.tolerance}"`);
  const text = readText(file);
  if (options.remote !== undefined) return printComparison(await reconcileThere(environment, { file, text }, options), tolerance, options);
  const account = limitAccount(readExport(options.vendor, text), options);
  const from = { vendor: source.ledgerVendor, ...(options.upstream === undefined ? {} : { upstream: options.upstream }) };
  return account.kind === 'costs'
    ? await reconcileCosts(environment, account.costs, from, { ...options, parsed: tolerance })
    : await reconcileUsage(environment, account.usage, from, { ...options, parsed: tolerance });
}

type Source = { readonly vendor: string; readonly upstream?: string };
type Parsed = ReconcileOptions & { readonly parsed: number };

async function reconcileUsage(environment: Environment, theirs: VendorUsage, source: Source, options: Parsed): Promise<number> {
  const reconciliation = new Reconciliation(theirs, source);
  return await readCalls(environment, async (store) => {
    for await (const entry of readEntries(store, theirs)) reconciliation.add(entry);
    const compared = { ...theirs, kind: 'usage', cells: reconciliation.cells(), leftOut: reconciliation.leftOut() } as const;
    const callsOf = (cell: ReconciledCell) => listCalls(store, reconciliation, theirs, cell);
    return await printComparison({ compared, callsOf }, options.parsed, options);
  });
}

/** Sends the export to a console. */
function reconcileThere(
  environment: Environment,
  { file, text }: { readonly file: string; readonly text: string },
  options: ReconcileOptions,
): Promise<RemoteReconciliation> {
  const { vendor, upstream, from, to, tolerance, prices } = options;
  const asked = { vendor, upstream, from, to, tolerance, prices };
  return reconcileRemotely({ environment, remote: options.remote, file: { name: basename(file), content: new Blob([text]) }, asked });
}

/** Prints a comparison, or the calls of one of its cells. Returns the exit code. */
export async function printComparison(
  { compared, callsOf }: RemoteReconciliation,
  tolerance: number,
  { calls, json }: Pick<ReconcileOptions, 'calls' | 'json'>,
): Promise<number> {
  if (compared.kind === 'costs') {
    if (calls !== undefined) throw noCalls();
    console.log((json === true ? writeCosts : describeCosts)(compared, tolerance));
    return compared.costs.some((cost) => isCostOver(cost, tolerance)) ? exitCodes.differ : exitCodes.agree;
  }
  const { cells } = compared;
  if (calls === undefined) console.log((json === true ? writeCells : describeCells)(cells, compared, tolerance));
  else {
    const cell = findCell(cells, calls);
    console.log((json === true ? writeCalls : describeCalls)(cell, await orderCalls(callsOf(cell))));
  }
  return cells.some(({ usage }) => usage.some((each) => isOver(each, tolerance))) ? exitCodes.differ : exitCodes.agree;
}

const noCalls = (): StartError => new StartError('--calls needs an export of usage; this is an export of costs');

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`the export ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Compares costs: the usage of the ledger at list prices, without the factors of users and keys. */
async function reconcileCosts(environment: Environment, theirs: VendorCosts, source: Source, options: Parsed): Promise<number> {
  const { prices, calls } = options;
  if (calls !== undefined) throw noCalls();
  const book = prices === undefined ? (await loadConfigAndPrices(environment)).priceBookData : await readNamedBook(environment, prices);
  const reconciliation = new CostReconciliation(theirs, { ...source, listPrices: createPriceBook({ book }) });
  await readCalls(environment, async (store) => {
    for await (const entry of readEntries(store, theirs)) reconciliation.add(entry);
  });
  const compared = { ...theirs, kind: 'costs', costs: reconciliation.costs(), charged: reconciliation.charged() } as const;
  return await printComparison({ compared, callsOf: () => noCallsOf() }, options.parsed, options);
}

async function* noCallsOf(): AsyncGenerator<ListedCall> {}

function findCell(cells: readonly ReconciledCell[], text: string): ReconciledCell {
  const at = text.lastIndexOf(':');
  const cell = cells.find(({ model, day }) => model === text.slice(0, at) && day === text.slice(at + 1));
  if (cell === undefined)
    throw new StartError(`--calls ${text}: neither side has this model on this day; write it as the table does, model:day`);
  return cell;
}

/** The calls of a cell, oldest first. */
async function* listCalls(
  store: Pick<LedgerStore, 'listEntriesBetween'>,
  reconciliation: Reconciliation,
  span: VendorUsage,
  cell: ReconciledCell,
): AsyncGenerator<ListedCall> {
  const startMs = Math.max(span.startMs, startOfDay(span.timeZone, cell.day));
  const endMs = Math.min(span.endMs, startOfDay(span.timeZone, cell.day, 1));
  for await (const entry of readEntries(store, { startMs, endMs })) {
    const call = reconciliation.callOf(entry, cell);
    if (call !== undefined) yield listedCall(call);
  }
}
