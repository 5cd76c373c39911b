import { randomBytes } from 'node:crypto';

import type { Command } from 'commander';

import type { AccountOperations } from '../../admin/resources/credits/transaction-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import { type CommonAccount, commonAccounts } from '../../billing/credits/credit-books.ts';
import { parseUsd } from '../../billing/credits/parse-usd.ts';
import { creditsOf, formatCredits } from '../../billing/rating/format-credits.ts';
import type { CreditUnit } from '../../billing/rating/rating.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { readCreditUnit } from '../config/read-credit-unit.ts';
import { type Environment, StartError } from '../environment.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type Posted = NonNullable<AccountOperations['post']['types']>['reply'];
type Owner = Pick<Posted, 'level' | 'user' | 'team'>;
type Money = Posted['amount'];

/** An exact amount of an answer. */
export const nanoUsdOf = ({ nano_usd }: Money): bigint => BigInt(nano_usd);

/** The operator's own unit. A console on another machine may have another one, so that only USD are shown. */
export const unitOf = (environment: Environment, { remote }: RemoteOption): CreditUnit | undefined =>
  remote === undefined ? readCreditUnit(environment) : undefined;

/** Makes a posting and prints the balance. A second one with the same reference posts nothing. */
export async function post(environment: Environment, place: RemoteOption, send: (service: AdminService) => Promise<Posted>): Promise<void> {
  const { id, repeated, amount, balance, ...owner } = await withService(environment, place, send);
  const unit = unitOf(environment, place);
  const outcome = repeated ? 'was posted before' : 'posted';
  const amounts = [describeAmount(nanoUsdOf(amount), unit), describeAmount(nanoUsdOf(balance), unit)];
  console.error(`${outcome}: ${inert(id)}, ${amounts[0]}; balance of ${nameOwner(owner)}: ${amounts[1]}`);
}

/** The name of an owner of an account: that of the user, `team research`, or `the organization`. */
export function nameOwner({ level, user, team }: Owner): string {
  if (level === 'organization') return 'the organization';
  return level === 'user' ? (user ?? '') : `team ${team ?? ''}`;
}

/** An amount in USD, and in the operator's own unit if one is configured. */
function describeAmount(nanoUsd: bigint, unit: CreditUnit | undefined): string {
  return `${usdDecimal(nanoUsd)} USD${unit === undefined ? '' : ` (${inert(formatCredits(nanoUsd, unit))})`}`;
}

/** The column of amounts in the operator's own unit; no column if none is configured. */
export const unitTitle = (unit: CreditUnit | undefined): string[] => (unit === undefined ? [] : [inert(unit.name).toUpperCase()]);
export const unitCell = (nanoUsd: bigint, unit: CreditUnit | undefined): string[] => (unit === undefined ? [] : [creditsOf(nanoUsd, unit)]);

function readAmount(text: string, { mayBeNegative }: { readonly mayBeNegative: boolean }): string {
  const amount = parseUsd(text);
  if (amount === undefined || amount === 0n || (amount < 0n && !mayBeNegative))
    throw new StartError(`"${text.slice(0, 40)}" is not an amount; give USD such as 25 or 0.5, with at most nine decimals`);
  return text;
}

function readAccount(text: string): CommonAccount {
  const account = commonAccounts.find((each) => each === text);
  if (account === undefined) throw new StartError(`there is no account "${text}"; there are ${commonAccounts.join(', ')}`);
  return account;
}

/** The account that commands post to. */
type Postable = {
  /** In the descriptions of the commands. */
  readonly whose: string;
  /** The argument that names its owner; absent if there is only one. */
  readonly argument?: string;
  readonly account: AccountOperations;
  /** The error about an owner that does not exist. */
  readonly unknown: (name: string) => Error;
};

type PostOptions = RemoteOption & { readonly note?: string; readonly reference?: string };
type CorrectOptions = PostOptions & { readonly against: string };
type HistoryOptions = RemoteOption & { readonly limit: string; readonly json?: boolean };
type Posting = { readonly kind: 'top_up' | 'grant' | 'correct'; readonly usd: string; readonly against?: CommonAccount };

/** Adds `top-up`, `grant`, `correct` and `history` for the account of an owner. */
export function addPostingCommands(parent: Command, environment: Environment, postable: Postable): void {
  const { whose, argument } = postable;
  const named = (name: string, description: string): Command => {
    const command = addRemoteOption(parent.command(name)).description(description);
    return argument === undefined ? command : command.argument(`<${argument}>`);
  };
  const posting = (name: string, description: string): Command =>
    named(name, description)
      .argument('<usd>')
      .option('--note <text>', 'why')
      .option('--reference <id>', 'your id of the payment; a second posting with the same id changes nothing');
  // Commander passes the arguments, then the options.
  const read = <Options>(given: readonly unknown[]) => {
    const words = argument === undefined ? [undefined, ...given] : given;
    const [name] = words;
    return { name: typeof name === 'string' ? name : undefined, text: String(words[1]), options: words[2] as Options };
  };
  const adding = (name: string, description: string, kind: 'top_up' | 'grant'): Command =>
    posting(name, description).action((...given: readonly unknown[]) => {
      const { name: owner, text, options } = read<PostOptions>(given);
      return postTo(environment, postable, owner, options, { kind, usd: readAmount(text, { mayBeNegative: false }) });
    });
  adding('top-up', `adds a payment to the balance of ${whose}`, 'top_up');
  adding('grant', `adds free credit to the balance of ${whose}`, 'grant');
  posting('correct', `corrects the balance of ${whose} by an amount; write -- before a negative amount`)
    .option('--against <account>', `the other side: ${commonAccounts.join(', ')}`, 'suspense')
    .action((...given: readonly unknown[]) => {
      const { name: owner, text, options } = read<CorrectOptions>(given);
      const usd = readAmount(text, { mayBeNegative: true });
      return postTo(environment, postable, owner, options, { kind: 'correct', usd, against: readAccount(options.against) });
    });
  named('history', `postings to the account of ${whose}, newest first`)
    .option('--limit <n>', 'how many', '50')
    .option('--json', 'as JSON')
    .action((...given: readonly unknown[]) => {
      const words = argument === undefined ? [undefined, ...given] : given;
      const [name] = words;
      return showHistory(environment, postable, typeof name === 'string' ? name : undefined, words[1] as HistoryOptions);
    });
}

const paramsOf = (name: string | undefined): { readonly name?: string } => (name === undefined ? {} : { name });

async function postTo(
  environment: Environment,
  { account, unknown }: Postable,
  name: string | undefined,
  { note, reference = randomBytes(8).toString('hex'), ...place }: PostOptions,
  posting: Posting,
): Promise<void> {
  const body = { ...posting, reference, ...(note !== undefined && { note }) };
  await post(environment, place, async (service) => {
    const sent = service.call(account.post, { params: paramsOf(name), body });
    return (await wordRefusal(sent, 'not_found', () => unknown(name ?? ''))).body;
  });
}

async function showHistory(
  environment: Environment,
  { account, unknown }: Postable,
  name: string | undefined,
  { limit, json, ...place }: HistoryOptions,
): Promise<void> {
  if (!/^[1-9][0-9]{0,3}$/.test(limit)) throw new StartError(`--limit must be an integer from 1 to 9999; got "${limit.slice(0, 40)}"`);
  const { items } = await withService(environment, { ...place, reads: true }, async (service) => {
    const asked = service.call(account.list, { params: paramsOf(name), query: { limit: Number(limit) } });
    return (await wordRefusal(asked, 'not_found', () => unknown(name ?? ''))).body;
  });
  if (json === true) return printItems(items);
  const unit = unitOf(environment, place);
  printTable(
    ['TIME', 'KIND', 'USD', ...unitTitle(unit), 'ID', 'NOTE'],
    items.map((row) => {
      const nanoUsd = nanoUsdOf(row.amount);
      return [row.posted_at, row.kind, usdDecimal(nanoUsd), ...unitCell(nanoUsd, unit), row.id, row.note ?? ''];
    }),
  );
}
