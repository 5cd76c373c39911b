import type { Command } from 'commander';

import { listRefusals } from '../../admin/resources/refusals/refusal-operations.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { readDuration } from './read-duration.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

const limitMax = 1000;

type ListOptions = RemoteOption & {
  readonly user?: string;
  readonly code?: string;
  readonly request?: string;
  readonly since?: string;
  readonly limit: string;
  readonly json?: boolean;
};

/** Adds `weir refusals`: the requests that the gateway refused. */
export function addRefusalsCommand(program: Command, environment: Environment): void {
  addRemoteOption(program.command('refusals'))
    .description('lists requests that the gateway refused in the last 7 days, newest first')
    .option('--user <name>', 'only those of the keys of one user')
    .option('--code <code>', 'only one kind: invalid_api_key, rate_limited')
    .option('--request <id>', 'only the one with this id, as its client got it')
    .option('--since <time>', 'only those of this last time: 12h, 7d')
    .option('--limit <rows>', `at most so many, up to ${limitMax}`, '50')
    .option('--json', 'as JSON')
    .action(async (options: ListOptions) => {
      const { rowsMax, ...filter } = readFilter(options);
      const rows = await withService(environment, { ...options, reads: true }, (service) =>
        listAll(service, listRefusals, filter, rowsMax),
      );
      if (options.json === true) return printItems(rows);
      printTable(
        ['TIME', 'STATUS', 'CODE', 'KEY', 'ADDRESS', 'PATH', 'MESSAGE'],
        rows.map(({ at, status, code, user, key, address, path, message }) => [
          at,
          String(status),
          code,
          inert(user === null ? 'unknown' : `${user}/${key ?? ''}`),
          inert(address ?? ''),
          inert(path),
          inert(message),
        ]),
      );
    });
}

function readFilter({ user, code, request, since, limit }: ListOptions) {
  const rowsMax = Number(limit);
  if (!/^\d{1,4}$/.test(limit) || rowsMax < 1 || rowsMax > limitMax)
    throw new StartError(`--limit must be a whole number from 1 to ${limitMax}; got "${limit}"`);
  const fromMs = since === undefined ? undefined : systemClock.nowMs() - readDuration('--since', since);
  return {
    ...(user !== undefined && { user }),
    ...(code !== undefined && { code }),
    ...(request !== undefined && { request_id: request }),
    ...(fromMs !== undefined && { from: new Date(fromMs).toISOString() }),
    rowsMax,
  };
}
