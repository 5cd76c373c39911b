import { randomBytes } from 'node:crypto';

import type { Command } from 'commander';

import { type CommonAccount, commonAccounts, type NewTransaction, transactionIdOf } from '../../billing/credits/credit-books.ts';
import { parseUsd } from '../../billing/credits/parse-usd.ts';
import { accountIdOf, type PotOwner } from '../../billing/credits/pots.ts';
import { creditsOf, formatCredits } from '../../billing/rating/format-credits.ts';
import type { CreditUnit } from '../../billing/rating/rating.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Store } from '../../store/store.ts';
import { readCreditUnit } from '../config/read-credit-unit.ts';
import { type Environment, StartError } from '../environment.ts';
import { inert } from './usage/terminal-text.ts';
import { commandAuthor, nameActor } from './name-actor.ts';
import { printTable, withStore } from './with-accounts.ts';

/** Finds the owner of an account by its name. @throws StartError if there is none */
export type FindOwner = (store: Store) => Promise<PotOwner>;

type Posting = Pick<NewTransaction, 'kind' | 'against' | 'amountNanoUsd'> & {
  readonly note?: string | undefined;
  readonly reference?: string | undefined;
  readonly callId?: string;
};

/** Posts a transaction and prints the balance. A second transaction with the same reference posts nothing. */
export async function post(environment: Environment, findOwner: FindOwner, { note, reference, ...posting }: Posting): Promise<void> {
  await withStore(environment, async (store) => {
    const owner = await findOwner(store);
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
    const name = await nameOwner(store, owner);
    if (status === 'conflict')
      throw new StartError(`${transactionId} was posted before with another amount; the history of ${name} shows it`);
    const unit = readCreditUnit(environment);
    const outcome = status === 'known' ? 'was posted before' : 'posted';
    console.error(
      `${outcome}: ${inert(transactionId)}, ${describeAmount(posting.amountNanoUsd, unit)}; balance of ${name}: ${describeAmount(balanceNanoUsd, unit)}`,
    );
  });
}

/** The name of an owner of an account: that of the user, `team research`, or `the organization`. */
export async function nameOwner(store: Pick<Store, 'listTeams'>, owner: PotOwner): Promise<string> {
  if (owner.level === 'user') return owner.userName;
  if (owner.level === 'organization') return 'the organization';
  // A deleted team is not listed.
  return `team ${(await store.listTeams()).find(({ id }) => id === owner.teamId)?.name ?? owner.teamId}`;
}

/** The name of the account of a problem in the books. */
export async function nameAccount(store: Pick<Store, 'listTeams'>, accountId: string | undefined): Promise<string> {
  if (accountId === undefined) return '-';
  const [level, ...rest] = accountId.split(':');
  const name = rest.join(':');
  if (level === 'user') return name;
  const owner: PotOwner = level === 'team' ? { level, teamId: name } : { level: 'organization' };
  return accountIdOf(owner) === accountId ? await nameOwner(store, owner) : accountId;
}

/** An amount in USD, and in the operator's own unit if one is configured. */
function describeAmount(nanoUsd: bigint, unit: CreditUnit | undefined): string {
  return `${usdDecimal(nanoUsd)} USD${unit === undefined ? '' : ` (${inert(formatCredits(nanoUsd, unit))})`}`;
}

/** The column of amounts in the operator's own unit; no column if none is configured. */
export const unitTitle = (unit: CreditUnit | undefined): string[] => (unit === undefined ? [] : [inert(unit.name).toUpperCase()]);
export const unitCell = (nanoUsd: bigint, unit: CreditUnit | undefined): string[] => (unit === undefined ? [] : [creditsOf(nanoUsd, unit)]);

function readAmount(text: string, { mayBeNegative }: { readonly mayBeNegative: boolean }): bigint {
  const amount = parseUsd(text);
  if (amount === undefined || amount === 0n || (amount < 0n && !mayBeNegative))
    throw new StartError(`"${text.slice(0, 40)}" is not an amount; give USD such as 25 or 0.5, with at most nine decimals`);
  return amount;
}

function readAccount(text: string): CommonAccount {
  const account = commonAccounts.find((each) => each === text);
  if (account === undefined) throw new StartError(`there is no account "${text}"; there are ${commonAccounts.join(', ')}`);
  return account;
}

/** The owner of the account that commands post to. */
type Postable = {
  /** In the descriptions of the commands. */
  readonly whose: string;
  /** The argument that names it; absent if there is only one. */
  readonly argument?: string;
  readonly find: (name: string) => FindOwner;
};

type PostOptions = { readonly note?: string; readonly reference?: string };
type CorrectOptions = PostOptions & { readonly against: string };

/** Adds `top-up`, `grant`, `correct` and `history` for the account of an owner. */
export function addPostingCommands(parent: Command, environment: Environment, { whose, argument, find }: Postable): void {
  const named = (name: string, description: string): Command => {
    const command = parent.command(name).description(description);
    return argument === undefined ? command : command.argument(`<${argument}>`);
  };
  const posting = (name: string, description: string): Command =>
    named(name, description)
      .argument('<usd>')
      .option('--note <text>', 'why')
      .option('--reference <id>', 'your id of the payment; a second posting with the same id changes nothing');
  // Commander passes the arguments, then the options.
  const read = <Options>(given: readonly unknown[]) => {
    const words = argument === undefined ? ['', ...given] : given;
    return { owner: find(String(words[0])), text: String(words[1]), options: words[2] as Options };
  };
  const adding = (name: string, description: string, books: Pick<Posting, 'kind' | 'against'>): Command =>
    posting(name, description).action((...given: readonly unknown[]) => {
      const { owner, text, options } = read<PostOptions>(given);
      return post(environment, owner, { ...options, ...books, amountNanoUsd: readAmount(text, { mayBeNegative: false }) });
    });
  adding('top-up', `adds a payment to the balance of ${whose}`, { kind: 'top_up', against: 'deposits' });
  adding('grant', `adds free credit to the balance of ${whose}`, { kind: 'promo', against: 'promo' });
  posting('correct', `corrects the balance of ${whose} by an amount; write -- before a negative amount`)
    .option('--against <account>', `the other side: ${commonAccounts.join(', ')}`, 'suspense')
    .action((...given: readonly unknown[]) => {
      const { owner, text, options } = read<CorrectOptions>(given);
      const { against, ...rest } = options;
      const amountNanoUsd = readAmount(text, { mayBeNegative: true });
      return post(environment, owner, { ...rest, kind: 'correction', against: readAccount(against), amountNanoUsd });
    });
  named('history', `postings to the account of ${whose}, newest first`)
    .option('--limit <n>', 'how many', '50')
    .option('--json', 'as JSON')
    .action((...given: readonly unknown[]) => {
      const words = argument === undefined ? ['', ...given] : given;
      return showHistory(environment, find(String(words[0])), words[1] as HistoryOptions);
    });
}

type HistoryOptions = { readonly limit: string; readonly json?: boolean };

async function showHistory(environment: Environment, findOwner: FindOwner, { limit, json }: HistoryOptions): Promise<void> {
  if (!/^[1-9][0-9]{0,3}$/.test(limit)) throw new StartError(`--limit must be an integer from 1 to 9999; got "${limit.slice(0, 40)}"`);
  const posted = await withStore(environment, async (store) =>
    store.listTransactions({ owner: await findOwner(store), limit: Number(limit) }),
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
}
