import type { Command } from 'commander';

import { granularityNames } from '../../billing/statistics/granularity.ts';
import type { Environment } from '../environment.ts';
import type { DisputedOptions } from './usage/list-disputed.ts';
import type { UsageOptions } from './usage/show-usage.ts';

/** Adds `weir usage`: statistics in a terminal, and decisions about disputed calls. */
export function addUsageCommand(program: Command, readEnvironment: () => Environment): void {
  const usage = program.command('usage');
  usage
    .description('shows what was used and what it cost; the last seven days unless told otherwise')
    .option('--by <bucket>', `size of the buckets: ${Object.values(granularityNames).join(', ')}`, 'day')
    .option('--from <time>', 'start: a date, a local time (2026-01-31T13:45), Unix seconds, or a time back from now (36h, 7d)')
    .option('--to <time>', 'end, not included; now unless given')
    .option('--user <name>', 'only calls of this user')
    .option('--token <name>', 'only calls made with API keys of this name')
    .option('--model <name>', 'only calls that asked for this model')
    .option('--json', 'prints the records as JSON')
    .option('--csv', 'prints the records as CSV')
    .option('--disputed', 'lists calls whose upstream reported figures that cannot be true, and that nobody has decided on')
    .option('--unpriced', 'lists models whose calls were charged 0 because nothing that they used has a price')
    .option('--all', 'with --disputed: those too that are settled')
    .action(async (options: UsageOptions & DisputedOptions & { readonly unpriced?: true }) => {
      if (options.disputed === true) {
        const { listDisputed } = await import('./usage/list-disputed.ts');
        return await listDisputed(readEnvironment(), options);
      }
      if (options.unpriced === true) {
        const { listUnpriced } = await import('./usage/list-unpriced.ts');
        return await listUnpriced(readEnvironment(), options);
      }
      const { showUsage } = await import('./usage/show-usage.ts');
      return await showUsage(readEnvironment(), options);
    });
  usage
    .command('accept')
    .description('books what the upstream of a disputed call reported, as it reported it; once, and for good')
    .argument('<row>', 'id of the disputed row, as weir usage --disputed shows it')
    .option('--note <text>', 'why; the receipt shows it')
    .action(async (rowId: string, { note }: { readonly note?: string }) => {
      const { acceptDisputed } = await import('./usage/settle-disputed.ts');
      await acceptDisputed(readEnvironment(), rowId, note);
    });
  usage
    .command('correct')
    .description(
      'books other counts for a disputed call; those that are not named stay as charged, so that without any the dispute ends with them',
    )
    .argument('<row>', 'id of the disputed row, as weir usage --disputed shows it')
    .argument('[counts...]', 'for example output_tokens=40, by the names of the receipt')
    .option('--note <text>', 'why; the receipt shows it')
    .action(async (rowId: string, counts: readonly string[], { note }: { readonly note?: string }) => {
      const { correctDisputed } = await import('./usage/settle-disputed.ts');
      await correctDisputed(readEnvironment(), rowId, counts, note);
    });
}
