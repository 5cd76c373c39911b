import type { Command } from 'commander';

import type { RefusalFilter } from '../../audit/refusals/refusal.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { readDuration } from './read-duration.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable, readStore } from './with-accounts.ts';

const limitMax = 1000;

type ListOptions = {
  readonly user?: string;
  readonly code?: string;
  readonly request?: string;
  readonly since?: string;
  readonly limit: string;
  readonly json?: boolean;
};

/** Adds `weir refusals`: the requests that the gateway refused. */
export function addRefusalsCommand(program: Command, environment: Environment): void {
  program
    .command('refusals')
    .description('lists requests that the gateway refused in the last 7 days, newest first')
    .option('--user <name>', 'only those of the keys of one user')
    .option('--code <code>', 'only one kind: invalid_api_key, rate_limited')
    .option('--request <id>', 'only the one with this id, as its client got it')
    .option('--since <time>', 'only those of this last time: 12h, 7d')
    .option('--limit <rows>', `at most so many, up to ${limitMax}`, '50')
    .option('--json', 'as JSON')
    .action(async (options: ListOptions) => {
      const rows = await readStore(environment, (store) => store.listRefusals(readFilter(options)));
      if (options.json === true) {
        console.log(JSON.stringify(rows, undefined, 2));
        return;
      }
      printTable(
        ['TIME', 'STATUS', 'CODE', 'KEY', 'ADDRESS', 'PATH', 'MESSAGE'],
        rows.map(({ atMs, status, code, userName, keyName, address, path, message }) => [
          new Date(atMs).toISOString(),
          String(status),
          code,
          inert(userName === undefined ? 'unknown' : `${userName}/${keyName ?? ''}`),
          inert(address ?? ''),
          inert(path),
          inert(message),
        ]),
      );
    });
}

function readFilter({ user, code, request, since, limit }: ListOptions): RefusalFilter {
  const rows = Number(limit);
  if (!/^\d{1,4}$/.test(limit) || rows < 1 || rows > limitMax)
    throw new StartError(`--limit must be a whole number from 1 to ${limitMax}; got "${limit}"`);
  return {
    users: 'all',
    ...(user !== undefined && { userName: user.normalize('NFC') }),
    ...(code !== undefined && { code }),
    ...(request !== undefined && { requestId: request }),
    ...(since !== undefined && { fromMs: systemClock.nowMs() - readDuration('--since', since) }),
    limit: rows,
  };
}
