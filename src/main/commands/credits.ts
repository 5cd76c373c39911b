import type { Command } from 'commander';

import { listBalances, listLeases, releaseNode } from '../../admin/resources/credits/credit-operations.ts';
import { userStatement } from '../../admin/resources/credits/statement-operations.ts';
import { refundCall, userAccount } from '../../admin/resources/credits/transaction-operations.ts';
import { listVerifications, verifyBooks } from '../../admin/resources/credits/verification-operations.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { type Environment, StartError } from '../environment.ts';
import { addPostingCommands, nameOwner, nanoUsdOf, post, unitCell, unitOf, unitTitle } from './credit-postings.ts';
import { readRowsMax, rowsMaxMost } from './read-limit.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { addStandingCommand, addStandingsCommand } from './standing.ts';
import { addStatementCommand } from './statement.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type JsonOptions = RemoteOption & { readonly json?: boolean };

const noUser = (name: string): StartError =>
  new StartError(`there is no user "${name}"; weir users list shows them, and weir keys create makes them`);

/**
 * Adds `weir credits …`: balances, payments, and whether the books add up. A running gateway notices postings within
 * about a second.
 */
export function addCreditCommands(program: Command, environment: Environment): void {
  const credits = program.command('credits').description('balances, payments and charges of users, and whether all books add up');
  addPostingCommands(credits, environment, { whose: 'a user', argument: 'user', account: userAccount, unknown: noUser });
  addStatementCommand(credits, environment, { whose: 'a user', argument: 'user', statement: userStatement, unknown: noUser });
  addRemoteOption(credits.command('refund'))
    .description('refunds the cost of a call, once, to the balance that paid; the call stays in the statistics')
    .argument('<call>', 'id of the call, see its receipt')
    .option('--note <text>', 'why')
    .action((id: string, { note, ...place }: RemoteOption & { readonly note?: string }) =>
      post(environment, place, async (service) => {
        const body = note === undefined ? {} : { note };
        const noCall = () => new StartError(`there is no call "${id}" in the books`);
        return (await wordRefusal(service.call(refundCall, { params: { id }, body }), 'not_found', noCall)).body;
      }),
    );
  addStandingCommand(credits, environment);
  addStandingsCommand(credits, environment);
  addListCommands(credits, environment);
  addVerifyCommands(credits, environment);
  addNodeCommands(credits, environment);
}

function addListCommands(credits: Command, environment: Environment): void {
  addRemoteOption(credits.command('balance'))
    .description('balances of the organization, teams and users, or of one user')
    .argument('[user]')
    .option('--json', 'as JSON')
    .action(async (user: string | undefined, { json, ...place }: JsonOptions) => {
      const query = user === undefined ? {} : { user };
      const { items } = await withService(environment, { ...place, reads: true }, async (service) => {
        const asked = service.call(listBalances, { query });
        return (await wordRefusal(asked, 'not_found', () => noUser(user ?? ''))).body;
      });
      if (json === true) return printItems(items);
      const unit = unitOf(environment, place);
      printTable(
        ['USER', 'BALANCE', 'LEASED', 'VIDEOS', ...unitTitle(unit)],
        items.map((row) => {
          const amounts = [row.balance, row.leased, row.videos].map((money) => usdDecimal(nanoUsdOf(money)));
          return [nameOwner(row), ...amounts, ...unitCell(nanoUsdOf(row.balance), unit)];
        }),
      );
    });
}

function addVerifyCommands(credits: Command, environment: Environment): void {
  addRemoteOption(credits.command('verify'))
    .description('recomputes all balances and sums; exits with 1 if something does not add up')
    .action(async (place: RemoteOption) => {
      const { body } = await withService(environment, { ...place, reads: true }, (service) => service.call(verifyBooks));
      for (const { account, what } of body.problems) console.log(`${account?.replace(/^user:/, '') ?? '-'}: ${what}`);
      console.error(`${body.checked} rows verified, ${body.problem_count} problems`);
      if (!body.adds_up) process.exitCode = 1;
    });
  addRemoteOption(credits.command('verifications'))
    .description('when the books were verified: the last pass of each gateway, and those that consoles keep')
    .option('--limit <rows>', `at most so many, up to ${rowsMaxMost}`, '50')
    .option('--json', 'as JSON')
    .action(async ({ limit, json, ...place }: JsonOptions & { readonly limit: string }) => {
      const rowsMax = readRowsMax(limit);
      const items = await withService(environment, { ...place, reads: true }, (service) =>
        listAll(service, listVerifications, {}, rowsMax),
      );
      if (json === true) return printItems(items);
      printTable(
        ['ENDED', 'BY', 'ROWS', 'PROBLEMS'],
        items.map(({ ended_at, author, checked, problem_count }) => [ended_at, inert(author), String(checked), String(problem_count)]),
      );
    });
}

function addNodeCommands(credits: Command, environment: Environment): void {
  addRemoteOption(credits.command('leases'))
    .description('amounts that gateway processes have leased for calls')
    .option('--json', 'as JSON')
    .action(async ({ json, ...place }: JsonOptions) => {
      const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listLeases))).body;
      if (json === true) return printItems(items);
      printTable(
        ['NODE', 'LAST SEEN', 'POT', 'USD'],
        items.map((row) => [row.node, row.seen_at ?? 'released', row.pot, usdDecimal(nanoUsdOf(row.leased))]),
      );
    });
  addRemoteOption(credits.command('release-node'))
    .description('releases the leases of a process that will never return; charges that are only in its lost journal are never booked')
    .argument('<node>', 'id of the node, see weir credits leases')
    .option('--force', 'also if the process was seen in the last minute; if it still runs, it refuses calls with a limit from then on')
    .action((id: string, { force = false, ...place }: RemoteOption & { readonly force?: boolean }) =>
      withService(environment, place, async (service) => {
        const noLeases = () => new StartError(`"${id}" has no leases; weir credits leases shows all`);
        const { body } = await wordRefusal(service.call(releaseNode, { params: { id }, body: { force } }), 'not_found', noLeases);
        console.error(`released ${body.released} leases of ${id}`);
      }),
    );
}
