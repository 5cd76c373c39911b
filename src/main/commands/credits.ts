import { randomBytes } from 'node:crypto';

import type { Command } from 'commander';

import {
  type CommonAccount,
  commonAccounts,
  type NewTransaction,
  transactionIdOf,
  verifyStart,
} from '../../billing/credits/credit-books.ts';
import { accountIdOf, paidBy, type PotOwner } from '../../billing/credits/pots.ts';
import { parseUsd } from '../../billing/credits/parse-usd.ts';
import { creditsOf, formatCredits } from '../../billing/rating/format-credits.ts';
import type { CreditUnit } from '../../billing/rating/rating.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Store } from '../../store/store.ts';
import { readCreditUnit } from '../config/read-credit-unit.ts';
import { type Environment, StartError } from '../environment.ts';
import { inert } from './usage/terminal-text.ts';
import { commandAuthor, nameActor } from './name-actor.ts';
import { findUserName, printTable, withStore } from './with-accounts.ts';

const listedMax = 1000;
const verifyRows = 1000;

type Posting = Pick<NewTransaction, 'kind' | 'against' | 'amountNanoUsd'> & {
  readonly owner: { readonly userName: string } | PotOwner;
  readonly note?: string | undefined;
  readonly reference?: string | undefined;
  readonly callId?: string;
};

/** Posts a transaction and prints the balance. A second transaction with the same reference posts nothing. */
async function post(environment: Environment, { owner: named, note, reference, ...posting }: Posting): Promise<void> {
  await withStore(environment, async (store) => {
    const owner = 'level' in named ? named : ({ level: 'user', userName: await findUserName(store, named.userName) } as const);
    const id = reference ?? randomBytes(8).toString('hex');
    const transactionId = transactionIdOf({ kind: posting.kind, owner, reference: id });
    const atMs = systemClock.nowMs();
    const transaction = {
      ...posting,
      owner,
      transactionId,
      formerId: `${posting.kind}:${id}`,
      postedAtMs: atMs,
      actor: nameActor(),
      ...(note === undefined ? {} : { note }),
    };
    const { status, balanceNanoUsd } = await store.postTransaction(transaction, { ...commandAuthor(), atMs });
    if (status === 'conflict') throw new StartError(`${transactionId} was posted before with another amount; see its history`);
    const unit = readCreditUnit(environment);
    const outcome = status === 'known' ? 'was posted before' : 'posted';
    console.error(
      `${outcome}: ${inert(transactionId)}, ${describeAmount(posting.amountNanoUsd, unit)}; balance of ${accountIdOf(owner)}: ${describeAmount(balanceNanoUsd, unit)}`,
    );
  });
}

/** An amount in USD, and in the operator's own unit if one is configured. */
function describeAmount(nanoUsd: bigint, unit: CreditUnit | undefined): string {
  return `${usdDecimal(nanoUsd)} USD${unit === undefined ? '' : ` (${inert(formatCredits(nanoUsd, unit))})`}`;
}

/** The column of amounts in the operator's own unit; no column if none is configured. */
const unitTitle = (unit: CreditUnit | undefined): string[] => (unit === undefined ? [] : [inert(unit.name).toUpperCase()]);
const unitCell = (nanoUsd: bigint, unit: CreditUnit | undefined): string[] => (unit === undefined ? [] : [creditsOf(nanoUsd, unit)]);

function readAmount(text: string, { mayBeNegative }: { readonly mayBeNegative: boolean }): bigint {
  const amount = parseUsd(text);
  if (amount === undefined || amount === 0n || (amount < 0n && !mayBeNegative))
    throw new StartError(`"${text.slice(0, 40)}" is not an amount; give USD such as 25 or 0.5, with at most nine decimals`);
  return amount;
}

type PostOptions = { readonly note?: string; readonly reference?: string };

/**
 * Adds `weir credits …`: balances, payments, and whether the books add up. A running gateway notices postings within
 * about a second.
 */
export function addCreditCommands(program: Command, environment: Environment): void {
  const credits = program.command('credits').description('balances of users, payments and charges, and whether the books add up');
  addPostCommands(credits, environment);
  addListCommands(credits, environment);
  addNodeCommands(credits, environment);
}

function addPostCommands(credits: Command, environment: Environment): void {
  const posting = (name: string, description: string): Command =>
    credits
      .command(name)
      .description(description)
      .option('--note <text>', 'why')
      .option('--reference <id>', 'your id of the payment; a second posting with the same id changes nothing');
  const adding = (name: string, description: string, books: Pick<Posting, 'kind' | 'against'>): Command =>
    posting(name, description)
      .argument('<user>')
      .argument('<usd>')
      .action((userName: string, usd: string, options: PostOptions) =>
        post(environment, { ...options, ...books, owner: { userName }, amountNanoUsd: readAmount(usd, { mayBeNegative: false }) }),
      );
  adding('top-up', 'adds a payment to the balance of a user', { kind: 'top_up', against: 'deposits' });
  adding('grant', 'adds free credit to the balance of a user', { kind: 'promo', against: 'promo' });
  posting('correct', 'corrects a balance by an amount; write -- before a negative amount')
    .argument('<user>')
    .argument('<usd>')
    .option('--against <account>', `the other side: ${commonAccounts.join(', ')}`, 'suspense')
    .action((userName: string, usd: string, { against, ...options }: PostOptions & { readonly against: string }) =>
      post(environment, {
        ...options,
        owner: { userName },
        kind: 'correction',
        against: readAccount(against),
        amountNanoUsd: readAmount(usd, { mayBeNegative: true }),
      }),
    );
  credits
    .command('refund')
    .description('refunds the cost of a call, once; the call stays in the statistics')
    .argument('<call>', 'id of the call, see its receipt')
    .option('--note <text>', 'why')
    .action((callId: string, options: { readonly note?: string }) => refund(environment, callId, options.note));
}

function readAccount(text: string): CommonAccount {
  const account = commonAccounts.find((each) => each === text);
  if (account === undefined) throw new StartError(`there is no account "${text}"; there are ${commonAccounts.join(', ')}`);
  return account;
}

async function refund(environment: Environment, callId: string, note: string | undefined): Promise<void> {
  const entry = await withStore(environment, (store) => store.findEntry(callId));
  if (entry === undefined) throw new StartError(`there is no call "${callId}" in the books`);
  const { charge } = entry;
  if (charge.amountNanoUsd === 0n) throw new StartError(`the call ${callId} cost nothing, so there is nothing to refund`);
  await post(environment, {
    owner: paidBy({ ...entry, teamId: entry.team?.id }),
    note,
    kind: 'refund',
    against: 'revenue',
    amountNanoUsd: charge.amountNanoUsd,
    reference: callId,
    callId,
  });
}

function addListCommands(credits: Command, environment: Environment): void {
  credits
    .command('balance')
    .description('balances of all users, or of one')
    .argument('[user]')
    .option('--json', 'as JSON')
    .action(async (user: string | undefined, { json }: { readonly json?: boolean }) => {
      const rows = await withStore(environment, async (store) =>
        store.readBalances({
          limit: listedMax,
          ...(user === undefined ? {} : { owner: { level: 'user', userName: await findUserName(store, user) } }),
        }),
      );
      const shown = rows.map(({ owner, balanceNanoUsd, leasedNanoUsd, videosNanoUsd }) => ({
        user: accountIdOf(owner),
        balance_usd: usdDecimal(balanceNanoUsd),
        leased_usd: usdDecimal(leasedNanoUsd),
        videos_usd: usdDecimal(videosNanoUsd),
      }));
      if (json === true) return console.log(JSON.stringify(shown, undefined, 2));
      const unit = readCreditUnit(environment);
      printTable(
        ['USER', 'BALANCE', 'LEASED', 'VIDEOS', ...unitTitle(unit)],
        shown.map((row, index) => [
          row.user,
          row.balance_usd,
          row.leased_usd,
          row.videos_usd,
          ...unitCell(rows[index]?.balanceNanoUsd ?? 0n, unit),
        ]),
      );
    });
  credits
    .command('history')
    .description('postings to the account of a user, newest first')
    .argument('<user>')
    .option('--limit <n>', 'how many', '50')
    .option('--json', 'as JSON')
    .action(async (user: string, { limit, json }: { readonly limit: string; readonly json?: boolean }) => {
      if (!/^[1-9][0-9]{0,3}$/.test(limit)) throw new StartError(`--limit must be an integer from 1 to 9999; got "${limit.slice(0, 40)}"`);
      const posted = await withStore(environment, async (store) =>
        store.listTransactions({ owner: { level: 'user', userName: await findUserName(store, user) }, limit: Number(limit) }),
      );
      if (json === true)
        return console.log(
          JSON.stringify(
            posted.map(({ amountNanoUsd, ...row }) => ({ ...row, amount_usd: usdDecimal(amountNanoUsd) })),
            undefined,
            2,
          ),
        );
      const unit = readCreditUnit(environment);
      printTable(
        ['TIME', 'KIND', 'USD', ...unitTitle(unit), 'ID', 'NOTE'],
        posted.map((row) => [
          new Date(row.postedAtMs).toISOString(),
          row.kind,
          usdDecimal(row.amountNanoUsd),
          ...unitCell(row.amountNanoUsd, unit),
          row.transactionId,
          row.note ?? '',
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
    for (const { accountId, what } of slice.problems) console.log(`${accountId ?? '-'}: ${what}`);
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
