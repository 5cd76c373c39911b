import type { Command } from 'commander';

import { parseLimits, type WrittenLimits } from '../../accounts/parse-limits.ts';
import { encodeLimitsChange } from '../../admin/contract/limits.ts';
import { systemClock } from '../../platform/clock.ts';
import { StartError } from '../environment.ts';
import { addLimitOptions, writtenLimits } from './limit-options.ts';

export type SharedOptions = WrittenLimits & { readonly prepaid?: boolean };

/** The commands that post to the balance of an owner. */
const payments = { user: 'credits', team: 'teams', organization: 'organization' } as const;

/** Adds the limits that several keys share: those of a key, and whether they are paid from a balance. */
export function addSharedLimitOptions(command: Command, whose: keyof typeof payments): Command {
  command
    .option('--prepaid', `calls are paid from the balance of the ${whose}; see weir ${payments[whose]} top-up`)
    .option('--no-prepaid', 'calls are paid afterwards');
  return addLimitOptions(command);
}

/** The change that these options ask for, as the body of a request; empty without any. */
export function readSharedChange({ prepaid, ...options }: SharedOptions) {
  const limits = encodeLimitsChange(parseLimits(writtenLimits(options), systemClock.nowMs()));
  return { ...(Object.keys(limits).length > 0 && { limits }), ...(prepaid !== undefined && { prepaid }) };
}

export function noTeam(name: string): StartError {
  return new StartError(`there is no team "${name}"; weir teams list shows them`);
}
