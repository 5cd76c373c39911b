import type { Command } from 'commander';

import { verifyStart } from '../../billing/credits/credit-books.ts';
import { paidBy, type PotOwner } from '../../billing/credits/pots.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Store } from '../../store/store.ts';
import { readCreditUnit } from '../config/read-credit-unit.ts';
import { type Environment, StartError } from '../environment.ts';
import { addPostingCommands, nameAccount, nameOwner, post, unitCell, unitTitle } from './credit-postings.ts';
import { commandAuthor } from './name-actor.ts';
import { addStandingCommand } from './standing.ts';
import { findUserName, printTable, withStore } from './with-accounts.ts';

const listedMax = 1000;
const verifyRows = 1000;

const findUser = async (store: Store, name: string): Promise<PotOwner> => ({ level: 'user', userName: await findUserName(store, name) });

/**
 * Adds `weir credits …`: balances, payments, and whether the books add up. A running gateway notices postings within
 * about a second.
 */
export function addCreditCommands(program: Command, environment: Environment): void {
  const credits = program.command('credits').description('balances, payments and charges of users, and whether all books add up');
  addPostingCommands(credits, environment, {
    whose: 'a user',
    argument: 'user',
    find: (name) => (store) => findUser(store, name),
  });
  credits
    .command('refund')
    .description('refunds the cost of a call, once, to the balance that paid; the call stays in the statistics')
    .argument('<call>', 'id of the call, see its receipt')
    .option('--note <text>', 'why')
    .action((callId: string, options: { readonly note?: string }) => refund(environment, callId, options.note));
  addStandingCommand(credits, environment);
  addListCommands(credits, environment);
  addNodeCommands(credits, environment);
}

async function refund(environment: Environment, callId: string, note: string | undefined): Promise<void> {
  const entry = await withStore(environment, (store) => store.findEntry(callId));
  if (entry === undefined) throw new StartError(`there is no call "${callId}" in the books`);
  const { charge, userName, keyId, team, payer } = entry;
  if (charge.amountNanoUsd === 0n) throw new StartError(`the call ${callId} cost nothing, so there is nothing to refund`);
  const owner = paidBy({ userName, keyId, teamId: team?.id, payer });
  const refunded = { note, kind: 'refund', against: 'revenue', amountNanoUsd: charge.amountNanoUsd, reference: callId, callId } as const;
  await post(environment, async () => owner, refunded);
}

function addListCommands(credits: Command, environment: Environment): void {
  credits
    .command('balance')
    .description('balances of the organization, teams and users, or of one user')
    .argument('[user]')
    .option('--json', 'as JSON')
    .action(async (user: string | undefined, { json }: { readonly json?: boolean }) => {
      const rows = await withStore(environment, async (store) => {
        const filter = user === undefined ? {} : { owner: await findUser(store, user) };
        const balances = await store.readBalances({ limit: listedMax, ...filter });
        return await Promise.all(balances.map(async (row) => ({ ...row, name: await nameOwner(store, row.owner) })));
      });
      const shown = rows.map(({ name, owner, balanceNanoUsd, leasedNanoUsd, videosNanoUsd }) => ({
        ...(owner.level === 'user' ? { user: name } : { level: owner.level, name }),
        balance_usd: usdDecimal(balanceNanoUsd),
        leased_usd: usdDecimal(leasedNanoUsd),
        videos_usd: usdDecimal(videosNanoUsd),
      }));
      if (json === true) return console.log(JSON.stringify(shown, undefined, 2));
      const unit = readCreditUnit(environment);
      printTable(
        ['USER', 'BALANCE', 'LEASED', 'VIDEOS', ...unitTitle(unit)],
        shown.map((row, index) => [
          rows[index]?.name ?? '',
          row.balance_usd,
          row.leased_usd,
          row.videos_usd,
          ...unitCell(rows[index]?.balanceNanoUsd ?? 0n, unit),
        ]),
      );
    });
  credits
    .command('verify')
    .description('recomputes all balances and sums; exits with 1 if something does not add up')
    .action(() => withStore(environment, verify));
}

async function verify(store: Store): Promise<void> {
  let checked = 0;
  let wrong = 0;
  for (let cursor = verifyStart; ;) {
    const slice = await store.verifyBooks({ cursor, limit: verifyRows });
    checked += slice.checked;
    wrong += slice.problems.length;
    for (const { accountId, what } of slice.problems) console.log(`${await nameAccount(store, accountId)}: ${what}`);
    if (slice.next === undefined) break;
    cursor = slice.next;
  }
  console.error(`${checked} rows verified, ${wrong} problems`);
  if (wrong > 0) process.exitCode = 1;
}

function addNodeCommands(credits: Command, environment: Environment): void {
  credits
    .command('leases')
    .description('amounts that gateway processes have leased for calls')
    .action(async () => {
      const leases = await withStore(environment, (store) => store.listLeases());
      printTable(
        ['NODE', 'LAST SEEN', 'POT', 'USD'],
        leases.map((row) => [
          row.nodeId,
          row.seenAtMs === undefined ? 'released' : new Date(row.seenAtMs).toISOString(),
          row.potId,
          usdDecimal(row.leasedNanoUsd),
        ]),
      );
    });
  credits
    .command('release-node')
    .description('releases the leases of a process that will never return; charges that are only in its lost journal are never booked')
    .argument('<node>', 'id of the node, see weir credits leases')
    .option('--force', 'also if the process was seen in the last minute; if it still runs, it refuses calls with a limit from then on')
    .action((nodeId: string, { force }: { readonly force?: boolean }) => releaseNode(environment, nodeId, force === true));
}

const livesForMs = 60_000;

async function releaseNode(environment: Environment, nodeId: string, force: boolean): Promise<void> {
  await withStore(environment, async (store) => {
    const own = (await store.listLeases()).filter((lease) => lease.nodeId === nodeId);
    if (own.length === 0) throw new StartError(`"${nodeId}" has no leases; weir credits leases shows all`);
    const seenAtMs = Math.max(...own.map((lease) => lease.seenAtMs ?? 0));
    if (!force && systemClock.nowMs() - seenAtMs < livesForMs)
      throw new StartError(`${nodeId} was seen less than a minute ago; stop it, wait a minute, and repeat the command`);
    console.error(
      `released ${await store.releaseCreditNode({ nodeId, change: { ...commandAuthor(), atMs: systemClock.nowMs() } })} leases of ${nodeId}`,
    );
  });
}
