import type { Command } from 'commander';

import { granularityNames } from '../../billing/statistics/granularity.ts';
import type { Environment } from '../environment.ts';
import type { DisputedOptions } from './usage/list-disputed.ts';
import { addRemoteOption } from './remote/with-service.ts';
import type { SettleOptions } from './usage/settle-disputed.ts';
import type { GroupOptions } from './usage/show-groups.ts';
import type { UsageOptions } from './usage/show-usage.ts';

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Adds `weir usage`: statistics in a terminal, and decisions about disputed calls. */
export function addUsageCommand(program: Command, readEnvironment: () => Environment): void {
  const usage = addRemoteOption(program.command('usage'));
  usage
    .description('shows usage and cost; default: the last seven days')
    .option('--by <bucket>', `size of the buckets: ${Object.values(granularityNames).join(', ')}`, 'day')
    .option('--from <time>', 'start: a date, a local time (2026-01-31T13:45), Unix seconds, or a time back from now (36h, 7d)')
    .option('--to <time>', 'end, not included; default: now')
    .option('--user <name>', 'only calls of this user')
    .option('--token <name>', 'only calls made with API keys of this name')
    .option('--model <name>', 'only calls that requested this model')
    .option('--group-by <names>', 'sums by one or two of user, key, model, team, upstream, upstream-model, interface, end, tag:<name>')
    .option('--team <name>', 'only calls of users of this team, "" for calls without one; repeat it for "or"', collect)
    .option('--tag <name=value>', 'only calls with this tag, name= for calls without it; repeat it', collect)
    .option('--json', 'prints the records as JSON')
    .option('--csv', 'prints the records as CSV')
    .option('--disputed', 'lists undecided calls whose upstream reported impossible figures')
    .option('--unpriced', 'lists models whose calls were charged 0 because they have no price')
    .option('--all', 'with --disputed: also lists settled calls')
    .action(async (options: UsageOptions & DisputedOptions & GroupOptions & { readonly unpriced?: true }) => {
      if (options.disputed === true) {
        const { listDisputed } = await import('./usage/list-disputed.ts');
        return await listDisputed(readEnvironment(), options);
      }
      if (options.unpriced === true) {
        const { listUnpriced } = await import('./usage/list-unpriced.ts');
        return await listUnpriced(readEnvironment(), options);
      }
      const { asksForGroups, showGroups } = await import('./usage/show-groups.ts');
      if (asksForGroups(options)) return await showGroups(readEnvironment(), options);
      const { showUsage } = await import('./usage/show-usage.ts');
      return await showUsage(readEnvironment(), options);
    });
  addRemoteOption(usage.command('accept'))
    .description('books the counts that the upstream reported for a disputed call; this is final')
    .argument('<row>', 'id of the disputed row, see weir usage --disputed')
    .option('--note <text>', 'why; the receipt shows it')
    .action(async (rowId: string, _options: unknown, command: Command) => {
      const { acceptDisputed } = await import('./usage/settle-disputed.ts');
      await acceptDisputed(readEnvironment(), rowId, readSettleOptions(command));
    });
  addRemoteOption(usage.command('correct'))
    .description(
      'books other counts for a disputed call; counts that are not given stay as charged, and without any the charge is confirmed',
    )
    .argument('<row>', 'id of the disputed row, see weir usage --disputed')
    .argument('[counts...]', 'for example output_tokens=40; the receipt shows the names')
    .option('--note <text>', 'why; the receipt shows it')
    .action(async (rowId: string, counts: readonly string[], _options: unknown, command: Command) => {
      const { correctDisputed } = await import('./usage/settle-disputed.ts');
      await correctDisputed(readEnvironment(), rowId, counts, readSettleOptions(command));
    });
}

/** Wherever `--remote` stands, `weir usage` reads it first, because it has the same option. */
function readSettleOptions(command: Command): SettleOptions {
  const { note, remote } = command.optsWithGlobals<SettleOptions>();
  return { ...(note !== undefined && { note }), ...(remote !== undefined && { remote }) };
}
