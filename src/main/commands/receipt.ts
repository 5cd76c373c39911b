import { readFileSync } from 'node:fs';

import type { Command } from 'commander';

import { AdminProblem } from '../../admin/problem.ts';
import { getReceipt } from '../../admin/resources/receipts/receipt-operations.ts';
import type { PriceBook } from '../../billing/rating/rating.ts';
import type { Receipt } from '../../billing/receipts/receipt.ts';
import { showCredits } from '../../billing/receipts/show-credits.ts';
import { type Verification, verifyReceiptText } from '../../billing/receipts/verify-receipt.ts';
import { readCreditUnit } from '../config/read-credit-unit.ts';
import { type Environment, StartError } from '../environment.ts';
import { findBooksOfVersions } from './books-of-versions.ts';
import { describeReceipt } from './describe-receipt.ts';
import { addRemoteOption, type RemoteOption, withService } from './remote/with-service.ts';

/** The exit codes of `weir receipt verify`: all is right, something differs, or the receipt could not be checked. */
const exitCodes = { right: 0, differs: 1, trouble: 2 } as const;

/** Adds `weir receipt …`, which shows the receipt of a call, and `weir receipt verify`, which recomputes one. */
export function addReceiptCommands(program: Command, environment: Environment, configured: () => Environment): void {
  const receipt = addRemoteOption(program.command('receipt'))
    .description('what a call cost and why; weir receipt verify recomputes a receipt')
    .argument('<id>', 'the id of the call (x-weir-request-id of its reply), or the id in the reply: resp_…, msg_…, chatcmpl-…, task_…')
    .option('--json', 'the receipt as JSON, as GET /v1/receipts/{id} returns it')
    .action((id: string, { json, ...place }: RemoteOption & { readonly json?: boolean }) =>
      showReceipt(environment, id, place, json === true),
    );
  receipt
    .command('verify')
    .description(
      'recomputes a receipt and names every difference; needs no database. Exit code 0: right, 1: something differs, 2: it cannot be read',
    )
    .argument('<file>', 'a receipt as JSON, or - for standard input')
    .option('--prices', 'also recomputes the lines from the usage, with the prices of the version from the configuration or the database')
    .action(async (file: string, { prices }: { prices?: boolean }) => {
      process.exitCode = await verify(configured, file, prices === true);
    });
}

async function showReceipt(environment: Environment, id: string, place: RemoteOption, json: boolean): Promise<void> {
  const found = await withService(environment, { ...place, reads: true }, async (service) => {
    try {
      return (await service.call(getReceipt, { params: { id } })).body;
    } catch (error) {
      if (!(error instanceof AdminProblem) || error.code !== 'not_found') throw error;
      throw new StartError(
        `the ledger has no call "${id}"; a call is booked shortly after its end, and a refused request is in weir refusals --request ${id}`,
      );
    }
  });
  // The operation declares an open object; its members are those of a receipt.
  const receipt = found as unknown as Receipt;
  const shown = place.remote === undefined ? showCredits(receipt, readCreditUnit(environment)) : receipt;
  console.log(json ? JSON.stringify(shown, undefined, 2) : describeReceipt(shown).join('\n'));
}

async function verify(configured: () => Environment, file: string, withPrices: boolean): Promise<number> {
  let verified: Verification;
  let books: readonly PriceBook[] = [];
  try {
    const text = readFileSync(file === '-' ? 0 : file, 'utf8');
    verified = verifyReceiptText(text);
    if (withPrices && verified.receipt !== undefined) {
      books = await findBooksOfVersions(configured(), versionsOf(verified.receipt));
      verified = verifyReceiptText(text, books);
    }
  } catch (error) {
    console.error(`weir: ${error instanceof Error ? error.message : String(error)}`);
    return exitCodes.trouble;
  }
  const { problems, receipt, rerated } = verified;
  for (const { path, problem } of problems) console.error(path === '' ? problem : `${path}: ${problem}`);
  if (receipt === undefined) return exitCodes.trouble;
  if (problems.length > 0) return exitCodes.differs;
  const versions = versionsOf(receipt).join(', ');
  if (withPrices && rerated < receipt.rows.length) {
    console.error(
      `weir: the receipt was priced with ${versions}; the configuration has ${books[0]?.version ?? 'none'}, and the database does not have all of them`,
    );
    return exitCodes.trouble;
  }
  console.log(`${receipt.request_id}: ${receipt.total.usd} USD is right${withPrices ? `, also by the prices of ${versions}` : ''}`);
  return exitCodes.right;
}

const versionsOf = ({ rows }: Receipt): readonly string[] => [...new Set(rows.map(({ price }) => price.version))];
