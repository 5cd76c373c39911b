import { randomUUID } from 'node:crypto';

import type { Command } from 'commander';

import { listArchives } from '../../admin/resources/archives/archive-operations.ts';
import { archiveCalls, verifyArchive } from '../../billing/archive/archive-calls.ts';
import { ArchiveError } from '../../billing/archive/call-archive.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Store } from '../../store/store.ts';
import { openDatabase } from '../assembly/open-data-directory.ts';
import { archiveFilesOf, readRetention } from '../assembly/run-archiving.ts';
import { withConfigPath } from '../config/find-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { findUrl, type UrlOption, urlText } from './database.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { printTable, readStore } from './with-accounts.ts';

type ListOptions = RemoteOption & { readonly json?: boolean };

/** Adds `weir archive …`: calls that left the database for Parquet files. */
export function addArchiveCommands(program: Command, environment: Environment): void {
  const archive = program.command('archive').description('calls of months that books.retention does not keep in the database');
  addRemoteOption(archive.command('list'))
    .description('lists the files, oldest first')
    .option('--json', 'as JSON')
    .action((options: ListOptions) => list(withConfigPath(environment), options));
  archive
    .command('run')
    .description('writes older calls to files, reads the files back, and drops the calls from the database')
    .option('--url <url>', urlText)
    .action((options: UrlOption) => run(withConfigPath(environment), options));
  archive
    .command('verify')
    .description('reads whole files again and compares them with what was verified; the exit code is 1 if one differs')
    .argument('[id...]', 'as weir archive list names them; default: all')
    .action((ids: readonly string[]) => verify(withConfigPath(environment), ids));
}

async function list(environment: Environment, { json, ...place }: ListOptions): Promise<void> {
  const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listArchives))).body;
  if (json === true) return printItems(items);
  printTable(
    ['ID', 'STATE', 'ROWS', 'USD', 'BYTES', 'VERIFIED', 'SHA256'],
    items.map(({ id, state, rows, amount_usd, bytes, verified_at, sha256 }) => [
      id,
      state,
      String(rows),
      amount_usd,
      String(bytes),
      verified_at,
      sha256,
    ]),
  );
}

async function run(environment: Environment, options: UrlOption): Promise<void> {
  const retention = readRetention(environment);
  if (retention === undefined)
    throw new StartError('all calls are kept: set books.retention.months in the configuration to the number of months to keep');
  const url = options.url === undefined ? undefined : findUrl(environment, options);
  const store = await openDatabase(environment, url === undefined ? {} : { url });
  try {
    const files = await archiveFilesOf({ environment, store })();
    const { months } = retention;
    const owner = `command ${randomUUID()}`;
    const done = await naming(archiveCalls({ store, files, clock: systemClock, months, owner, signal: new AbortController().signal }));
    if (done.state === 'busy')
      throw new StartError('another process archives calls at the moment; its lease ends 5 minutes after its last step');
    for (const { id, sums } of done.archives) console.log(`${files.placeOf(id)}: ${sums.rows} rows, verified and dropped`);
    if (done.archives.length === 0) console.log(`nothing to archive: ${months} whole months and the present one stay in the database`);
  } finally {
    await store.close();
  }
}

async function verify(environment: Environment, ids: readonly string[]): Promise<void> {
  const bad = await readStore(environment, async (store) => {
    const archives = await store.listArchives();
    const unknown = ids.find((id) => !archives.some((each) => each.id === id));
    if (unknown !== undefined) throw new StartError(`there is no archive "${unknown}"; weir archive list shows them`);
    return await verifyAll(environment, store, ids.length === 0 ? archives.map(({ id }) => id) : ids);
  });
  if (bad > 0) throw new StartError(`${bad} archives are not as they were verified: restore their files from a copy`);
}

/** Resolves with the number of archives with problems. */
async function verifyAll(environment: Environment, store: Store, ids: readonly string[]): Promise<number> {
  const files = await archiveFilesOf({ environment, store })();
  let bad = 0;
  for (const archive of await store.listArchives()) {
    if (!ids.includes(archive.id)) continue;
    const problems = await verifyArchive(files, archive, new AbortController().signal);
    if (problems.length > 0) bad += 1;
    console.log(`${archive.id}: ${problems.length === 0 ? `${archive.sums.rows} rows, intact` : problems.join(', ')}`);
  }
  if (ids.length === 0) console.log('there are no archives');
  return bad;
}

async function naming<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ArchiveError ? new StartError(`${error.message}; nothing more was dropped`, { cause: error }) : error;
  }
}
