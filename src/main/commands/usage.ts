import type { Command } from 'commander';

import { granularityNames } from '../../billing/statistics/granularity.ts';
import type { Environment } from '../environment.ts';
import type { UsageOptions } from '../usage/show-usage.ts';

/** Adds `weir usage`: the statistics of the monitor in a terminal. It only reads. */
export function addUsageCommand(program: Command, readEnvironment: () => Environment): void {
  program
    .command('usage')
    .description('shows what was used and what it cost; the last seven days unless told otherwise')
    .option('--by <bucket>', `size of the buckets: ${Object.values(granularityNames).join(', ')}`, 'day')
    .option('--from <time>', 'start: a date, a local time (2026-01-31T13:45), Unix seconds, or a time back from now (36h, 7d)')
    .option('--to <time>', 'end, not included; now unless given')
    .option('--user <name>', 'only calls of this user')
    .option('--token <name>', 'only calls made with API keys of this name')
    .option('--model <name>', 'only calls that asked for this model')
    .option('--json', 'prints the records as JSON')
    .option('--csv', 'prints the records as CSV')
    .action(async (options: UsageOptions) => {
      const { showUsage } = await import('../usage/show-usage.ts');
      await showUsage(readEnvironment(), options);
    });
}
