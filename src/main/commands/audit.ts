import type { Command } from 'commander';

import { exportAudit, listAudit, verifyLog } from '../../admin/resources/audit/audit-operations.ts';
import { systemClock } from '../../platform/clock.ts';
import { printTexts, readTexts } from './usage/print-texts.ts';
import { inert } from './usage/terminal-text.ts';
import { type Environment, StartError } from '../environment.ts';
import { readDuration } from './read-duration.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { printTable } from './with-accounts.ts';

const limitMax = 1000;

type ListedEntry = NonNullable<typeof listAudit.types>['reply']['items'][number];

type ListOptions = RemoteOption & {
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly since?: string;
  readonly limit: string;
  readonly json?: boolean;
};

/** Adds `weir audit …`: the changes by operators. */
export function addAuditCommands(program: Command, environment: Environment): void {
  const audit = program.command('audit').description('the log of all changes by operators: author, action, before and after');
  addRemoteOption(audit.command('list'))
    .description('lists changes, newest first')
    .option('--actor <name>', 'only those of one author: cli:root, configuration')
    .option('--action <action>', 'only one kind: keys.create, credits.top_up')
    .option('--subject <subject>', 'only those of one thing: user:bob, key:k3jd82ls0a')
    .option('--since <time>', 'only those of this last time: 12h, 90d')
    .option('--limit <rows>', `at most so many, up to ${limitMax}`, '50')
    .option('--json', 'as JSON, with before and after')
    .action(async (options: ListOptions) => {
      const { rowsMax, ...filter } = readFilter(options);
      const rows = await withService(environment, { ...options, reads: true }, (service) => listAll(service, listAudit, filter, rowsMax));
      if (options.json === true) printItems(rows);
      else printTable(['NO', 'TIME', 'WHO', 'WAY', 'ACTION', 'SUBJECT', 'NOTE'], rows.map(cells));
    });
  addRemoteOption(audit.command('export'))
    .description('prints the whole log as JSON Lines, oldest first')
    .action((place: RemoteOption) =>
      withService(environment, { ...place, reads: true }, async (service) => {
        await printTexts(process.stdout, readTexts(service.stream(exportAudit)));
      }),
    );
  addRemoteOption(audit.command('verify'))
    .description('recomputes the chain of hashes, and fails if a row was changed, removed or inserted')
    .option('--known <rows:head>', 'what an earlier verification printed: fails too if the log has no longer those rows')
    .action((options: RemoteOption & { readonly known?: string }) =>
      withService(environment, { ...options, reads: true }, async (service) => {
        const { rows, head, broken_at } = (await service.call(verifyLog, { query: readKnown(options.known) })).body;
        if (broken_at !== null)
          throw new StartError(`the audit log is broken at row ${broken_at}: it, or a row before it, was changed, removed or inserted`);
        console.log(`${rows} rows, unbroken; head ${head ?? 'none'}`);
      }),
    );
}

/** The head of an earlier verification, as `--known` has it. @throws StartError */
function readKnown(text: string | undefined): { readonly known_rows?: number; readonly known_head?: string } {
  if (text === undefined) return {};
  const [, rows, head] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (rows === undefined || head === undefined)
    throw new StartError(`--known must be rows and head of an earlier weir audit verify, as in 23:ec47…; got "${text}"`);
  return { known_rows: Number(rows), known_head: head };
}

function readFilter({ actor, action, subject, since, limit }: ListOptions) {
  const rowsMax = Number(limit);
  if (!/^\d{1,4}$/.test(limit) || rowsMax < 1 || rowsMax > limitMax)
    throw new StartError(`--limit must be a whole number from 1 to ${limitMax}; got "${limit}"`);
  const fromMs = since === undefined ? undefined : systemClock.nowMs() - readDuration('--since', since);
  return {
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(subject !== undefined && { subject }),
    ...(fromMs !== undefined && { from: new Date(fromMs).toISOString() }),
    rowsMax,
  };
}

function cells({ sequence, at, actor, via, action, subject, note }: ListedEntry): string[] {
  return [String(sequence), at, inert(actor), via, action, inert(subject), inert(note ?? '')];
}
