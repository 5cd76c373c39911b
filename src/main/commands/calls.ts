import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

import type { Command } from 'commander';

import { exportAll, listCalls } from '../../admin/resources/calls/call-operations.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { readDuration } from './read-duration.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { printTexts, readTexts } from './usage/print-texts.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type ExportBody = NonNullable<typeof exportAll.types>['body'];
type FilterOptions = RemoteOption & {
  readonly user?: readonly string[];
  readonly model?: readonly string[];
  readonly upstream?: readonly string[];
  readonly end?: readonly string[];
  readonly code?: readonly string[];
  readonly team?: readonly string[];
  readonly tag?: readonly string[];
  readonly since?: string;
};

const limitMax = 10_000;
const formats = ['csv', 'jsonl', 'xlsx'] as const;
const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Adds `weir calls …`: the booked calls, listed and exported. */
export function addCallsCommands(program: Command, environment: Environment): void {
  const calls = program.command('calls').description('the booked calls: each with its key, model, upstream, end and cost');
  addFilterOptions(calls.command('list'))
    .description('lists calls, newest first; weir receipt explains one')
    .option('--limit <rows>', `at most so many, up to ${limitMax}`, '50')
    .option('--json', 'as JSON')
    .action(async ({ limit, json, ...options }: FilterOptions & { readonly limit: string; readonly json?: boolean }) => {
      const rowsMax = Number(limit);
      if (!/^\d{1,5}$/.test(limit) || rowsMax < 1 || rowsMax > limitMax)
        throw new StartError(`--limit must be a whole number from 1 to ${limitMax}; got "${limit}"`);
      const rows = await withService(environment, { ...options, reads: true }, (service) =>
        listAll(service, listCalls, readFilter(options), rowsMax),
      );
      if (json === true) return printItems(rows);
      printTable(
        ['CALL', 'TIME', 'KEY', 'MODEL', 'UPSTREAM', 'END', 'INPUT', 'OUTPUT', 'MS', 'USD'],
        rows.map((call) => [
          call.id,
          call.at,
          inert(`${call.user}/${call.key}`),
          inert(call.model),
          inert(call.upstream ?? '-'),
          call.end,
          String(call.prompt_tokens),
          String(call.completion_tokens),
          String(Math.round(call.duration_ms)),
          call.amount.usd,
        ]),
      );
    });
  addFilterOptions(calls.command('export'))
    .description('writes calls, newest first, with all their figures')
    .argument('<format>', formats.join(', '))
    .option('--output <file>', 'writes to this new file; default: standard output')
    .action(async (format: string, { output, ...options }: FilterOptions & { readonly output?: string }) => {
      const known = formats.find((name) => name === format);
      if (known === undefined) throw new StartError(`the format must be one of ${formats.join(', ')}; got "${format}"`);
      if (known === 'xlsx' && output === undefined) throw new StartError('a workbook needs --output <file>');
      await withService(environment, options, async (service) => {
        const pieces = service.stream(exportAll, { body: { ...readFilter(options), format: known } });
        if (output === undefined) await printTexts(process.stdout, readTexts(pieces));
        else await pipeline(pieces, createWriteStream(output, { flags: 'wx' }));
      });
    });
}

function addFilterOptions(command: Command): Command {
  return addRemoteOption(command)
    .option('--user <name>', 'only calls of this user; repeat it and the next ones for "or"', collect)
    .option('--model <name>', 'only calls that requested this model', collect)
    .option('--upstream <name>', 'only calls that this upstream answered', collect)
    .option('--end <end>', 'only calls that ended so: finished, failed, cut, client-left, lost', collect)
    .option('--code <code>', 'only calls that failed with this code', collect)
    .option('--team <name>', 'only calls of users of this team, "" for calls without one', collect)
    .option('--tag <name=value>', 'only calls with this tag, name= for calls without it', collect)
    .option('--since <time>', 'only calls of this last time: 12h, 7d');
}

/** The filter of the API. It checks the values, and names what is wrong. */
function readFilter({ user, model, upstream, end, code, team, tag, since }: FilterOptions): Omit<ExportBody, 'format'> {
  const fromMs = since === undefined ? undefined : systemClock.nowMs() - readDuration('--since', since);
  return {
    ...(user !== undefined && { user: [...user] }),
    ...(model !== undefined && { model: [...model] }),
    ...(upstream !== undefined && { upstream: [...upstream] }),
    // The schema refuses other words.
    ...(end !== undefined && { end: [...end] as ExportBody['end'] & {} }),
    ...(code !== undefined && { error_code: [...code] }),
    ...(team !== undefined && { team: [...team] }),
    ...(tag !== undefined && { tag: [...tag] }),
    ...(fromMs !== undefined && { from: new Date(fromMs).toISOString() }),
  };
}
