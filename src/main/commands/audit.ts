import type { Command } from 'commander';

import type { AuditEntry, AuditFilter } from '../../audit/audit-entry.ts';
import { describeEntry } from '../../audit/describe-entry.ts';
import { readAuditLog, verifyAudit } from '../../audit/verify-audit.ts';
import { systemClock } from '../../platform/clock.ts';
import { inert } from './usage/terminal-text.ts';
import { type Environment, StartError } from '../environment.ts';
import { readDuration } from './read-duration.ts';
import { printTable, readStore } from './with-accounts.ts';

const limitMax = 1000;

type ListOptions = {
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
  audit
    .command('list')
    .description('lists changes, newest first')
    .option('--actor <name>', 'only those of one author: cli:root, configuration')
    .option('--action <action>', 'only one kind: keys.create, credits.top_up')
    .option('--subject <subject>', 'only those of one thing: user:bob, key:k3jd82ls0a')
    .option('--since <time>', 'only those of this last time: 12h, 90d')
    .option('--limit <rows>', `at most so many, up to ${limitMax}`, '50')
    .option('--json', 'as JSON, with before and after')
    .action(async (options: ListOptions) => {
      const rows = await readStore(environment, (store) => store.listAudit(readFilter(options)));
      if (options.json === true) console.log(JSON.stringify(rows.map(describeEntry), undefined, 2));
      else printTable(['NO', 'TIME', 'WHO', 'WAY', 'ACTION', 'SUBJECT', 'NOTE'], rows.map(cells));
    });
  audit
    .command('export')
    .description('prints the whole log as JSON Lines, oldest first')
    .action(() =>
      readStore(environment, async (store) => {
        const { sequence } = await store.auditHead();
        for await (const entry of readAuditLog(store, sequence)) console.log(JSON.stringify(describeEntry(entry)));
      }),
    );
  audit
    .command('verify')
    .description('recomputes the chain of hashes, and fails if a row was changed, removed or inserted')
    .action(() =>
      readStore(environment, async (store) => {
        const { rows, head, brokenAt } = await verifyAudit(store);
        if (brokenAt !== undefined)
          throw new StartError(`the audit log is broken at row ${brokenAt}: it, or a row before it, was changed, removed or inserted`);
        console.log(`${rows} rows, unbroken; head ${head.hash === '' ? 'none' : head.hash}`);
      }),
    );
}

function readFilter({ actor, action, subject, since, limit }: ListOptions): AuditFilter {
  const rows = Number(limit);
  if (!/^\d{1,4}$/.test(limit) || rows < 1 || rows > limitMax)
    throw new StartError(`--limit must be a whole number from 1 to ${limitMax}; got "${limit}"`);
  return {
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(subject !== undefined && { subject }),
    ...(since !== undefined && { fromMs: systemClock.nowMs() - readDuration('--since', since) }),
    limit: rows,
  };
}

function cells({ sequence, atMs, actor, via, action, subject, note }: AuditEntry): string[] {
  return [String(sequence), new Date(atMs).toISOString(), inert(actor), via, action, inert(subject), inert(note ?? '')];
}
