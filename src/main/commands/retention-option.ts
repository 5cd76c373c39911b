import type { Command } from 'commander';

import { StartError } from '../environment.ts';

const daysMax = 36_500;

/** Adds the option for how long the stored responses of a key are kept. */
export function addRetentionOption(command: Command): Command {
  return command.option(
    '--retention-days <n>',
    'days for which its responses are stored; 0 stores none; default follows the configuration',
  );
}

/** Undefined days: the configured default. @throws StartError if the text is not a number of days */
export function parseRetention(text: string): { readonly days: number | undefined } {
  if (text === 'default') return { days: undefined };
  const days = /^[0-9]{1,5}$/.test(text) ? Number(text) : Infinity;
  if (days > daysMax) {
    throw new StartError(`--retention-days must be an integer from 0 to ${daysMax}, or default; got "${text.slice(0, 100)}"`);
  }
  return { days };
}

/** The text of the list of keys. */
export function showRetention(days: number | undefined): string {
  if (days === undefined) return 'default';
  return days === 0 ? 'never' : `${days}d`;
}
