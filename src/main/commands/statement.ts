import type { Command } from 'commander';

import type { StatementOperations } from '../../admin/resources/credits/statement-operations.ts';
import { systemClock } from '../../platform/clock.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { type Environment, StartError } from '../environment.ts';
import { nameOwner, nanoUsdOf, unitCell, unitOf, unitTitle } from './credit-postings.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { readSpan } from './usage/read-span.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';
import { writeContent } from './write-content.ts';

type StatementOptions = RemoteOption & {
  readonly from?: string;
  readonly to?: string;
  readonly output?: string;
  readonly json?: boolean;
};
/** The account, as for addPostingCommands. */
type Stated = {
  readonly whose: string;
  readonly argument?: string;
  readonly statement: StatementOperations;
  readonly unknown: (name: string) => Error;
};

/** Days are those of UTC, as in the ledger. */
const byDay = 3;

/** Adds `statement` for the account of an owner: opening, payments, usage of each day, and closing. */
export function addStatementCommand(parent: Command, environment: Environment, stated: Stated): void {
  const { whose, argument } = stated;
  const command = addRemoteOption(parent.command('statement')).description(
    `the account of ${whose} in a span: opening, payments, usage by day, closing`,
  );
  if (argument !== undefined) command.argument(`<${argument}>`);
  command
    .option('--from <time>', 'postings at or after it, in UTC: 2026-01-31, or 30d for a time before now; default: 6 days before today')
    .option('--to <time>', 'postings before it; default: now')
    .option('--output <file>', 'writes a workbook (xlsx) instead, which the audit log names')
    .option('--json', 'as JSON')
    .action((...given: readonly unknown[]) => {
      // Commander passes the arguments, then the options.
      const [name, options] = argument === undefined ? [undefined, given[0]] : given;
      return state(environment, stated, typeof name === 'string' ? name : undefined, options as StatementOptions);
    });
}

async function state(
  environment: Environment,
  { statement, unknown }: Stated,
  name: string | undefined,
  { from, to, output, json, ...place }: StatementOptions,
): Promise<void> {
  if (output !== undefined && json === true) throw new StartError('--output and --json exclude each other');
  const asked = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const { startSeconds, endSeconds } = readSpan(asked, byDay, 'UTC', systemClock.nowMs());
  const query = { from: new Date(startSeconds * 1000).toISOString(), to: new Date(endSeconds * 1000).toISOString() };
  const input = { params: name === undefined ? {} : { name }, query };
  const noOwner = () => unknown(name ?? '');
  if (output !== undefined) {
    const writing = withService(environment, place, (service) => writeContent(service.stream(statement.export, input), output));
    await wordRefusal(writing, 'not_found', noOwner);
    if (output !== '-') console.error(`wrote ${output}`);
    return;
  }
  const reading = withService(environment, { ...place, reads: true }, (service) => service.call(statement.read, input));
  const { body } = await wordRefusal(reading, 'not_found', noOwner);
  if (json === true) return printItems(body);
  const unit = unitOf(environment, place);
  const row = (time: string, what: string, money: typeof body.opening, note = ''): readonly string[] => [
    time,
    what,
    usdDecimal(nanoUsdOf(money)),
    ...unitCell(nanoUsdOf(money), unit),
    note,
  ];
  const postings = body.postings.map(({ posted_at, kind, amount, note }) => row(posted_at, kind, amount, inert(note ?? '')));
  const usage = body.usage.map(({ day, amount }) => row(day, 'usage', amount));
  console.log(`${inert(nameOwner(body))}, ${body.from} to ${body.to}`);
  printTable(
    ['TIME', 'WHAT', 'USD', ...unitTitle(unit), 'NOTE'],
    [
      row(body.from, 'opening', body.opening),
      ...[...postings, ...usage].toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
      row(body.to, 'closing', body.closing),
    ],
  );
  if (!body.is_whole) console.log('There are more postings than are listed here; opening, usage and closing count all of them.');
}
