import { randomUUID } from 'node:crypto';

import type { Command } from 'commander';

import type { AdminService } from '../../admin/service/admin-service.ts';
import { listArchives, runArchiving, verifyArchiveFile } from '../../admin/resources/archives/archive-operations.ts';
import { archiveCalls, verifyArchive } from '../../billing/archive/archive-calls.ts';
import { ArchiveError, type CallArchive } from '../../billing/archive/call-archive.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Store } from '../../store/store.ts';
import { openDatabase } from '../assembly/open-data-directory.ts';
import { archiveFilesOf, readRetention } from '../assembly/run-archiving.ts';
import { withConfigPath } from '../config/config-path.ts';
import { type Environment, StartError } from '../environment.ts';
import { findUrl, type UrlOption, urlText } from './database.ts';
import { awaitOperation, interruption } from './remote/await-operation.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { printTable, readStore } from './with-accounts.ts';

type RunOptions = UrlOption & RemoteOption;
type ListOptions = RemoteOption & { readonly json?: boolean };

/** Adds `weir archive …`: calls that left the database for Parquet files. */
export function addArchiveCommands(program: Command, environment: Environment): void {
  const archive = program.command('archive').description('calls of months that books.retention does not keep in the database');
  addRemoteOption(archive.command('list'))
    .description('lists the files, oldest first')
    .option('--json', 'as JSON')
    .action((options: ListOptions) => list(withConfigPath(environment), options));
  addRemoteOption(archive.command('run'))
    .description('writes older calls to files, reads the files back, and drops the calls from the database')
    .option('--url <url>', urlText)
    .action((options: RunOptions) => (options.remote === undefined ? run : runThere)(withConfigPath(environment), options));
  addRemoteOption(archive.command('verify'))
    .description('reads whole files again and compares them with what was verified; the exit code is 1 if one differs')
    .argument('[id...]', 'as weir archive list names them; default: all')
    .action((ids: readonly string[], place: RemoteOption) => verify(withConfigPath(environment), ids, place));
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
    const done = await naming(archiveCalls({ store, files, clock: systemClock, months, owner, signal: interruption() }));
    if (done.state === 'busy')
      throw new StartError('another process archives calls at the moment; its lease ends 5 minutes after its last step');
    for (const { id, sums } of done.archives) console.log(`${files.placeOf(id)}: ${sums.rows} rows, verified and dropped`);
    if (done.archives.length === 0) console.log(`nothing to archive: ${months} whole months and the present one stay in the database`);
  } finally {
    await store.close();
  }
}

/** Runs on a console, which prints what its operation found. */
async function runThere(environment: Environment, { url, ...place }: RunOptions): Promise<void> {
  if (url !== undefined) throw new StartError('--url goes without --remote: the console has its own database');
  await withService(environment, place, async (service) => {
    const started = (await service.call(runArchiving)).body;
    const { result } = await awaitOperation(service, started, { signal: interruption() });
    // Written by the console's operation; null if it was cancelled.
    const { archives = [] } = (result as { readonly archives?: readonly { readonly id: string; readonly rows: number }[] } | null) ?? {};
    for (const { id, rows } of archives) console.log(`${id}: ${rows} rows, verified and dropped`);
    if (archives.length === 0) console.log('nothing was archived');
  });
}

/** An archive that can be read again; its problems are undefined if it was not read to its end. */
type ReadableArchive = { readonly id: string; readonly rows: number; readonly problems: () => Promise<readonly string[] | undefined> };

async function verify(environment: Environment, ids: readonly string[], place: RemoteOption): Promise<void> {
  const bad = await (place.remote === undefined
    ? readStore(environment, async (store) => await verifyAll(ids, await listHere(environment, store)))
    : withService(environment, place, async (service) => await verifyAll(ids, await listThere(service))));
  if (bad > 0) throw new StartError(`${bad} archives are not as they were verified: restore their files from a copy`);
}

async function listHere(environment: Environment, store: Store): Promise<readonly ReadableArchive[]> {
  const files = await archiveFilesOf({ environment, store })();
  const problemsOf = (archive: CallArchive) => async () => await verifyArchive(files, archive, interruption());
  return (await store.listArchives()).map((archive) => ({ id: archive.id, rows: archive.sums.rows, problems: problemsOf(archive) }));
}

async function listThere(service: AdminService): Promise<readonly ReadableArchive[]> {
  const problemsOf = (id: string) => async () => {
    const started = (await service.call(verifyArchiveFile, { params: { id } })).body;
    const { result } = await awaitOperation(service, started, { signal: interruption() });
    // Written by the console's operation; null if it was cancelled.
    return (result as { readonly problems: readonly string[] } | null)?.problems;
  };
  return (await service.call(listArchives)).body.items.map(({ id, rows }) => ({ id, rows, problems: problemsOf(id) }));
}

/** Reads the named archives, or all. Resolves with the number of those that are not as they were. */
async function verifyAll(ids: readonly string[], archives: readonly ReadableArchive[]): Promise<number> {
  const unknown = ids.find((id) => !archives.some((each) => each.id === id));
  if (unknown !== undefined) throw new StartError(`there is no archive "${unknown}"; weir archive list shows them`);
  let bad = 0;
  for (const { id, rows, problems } of archives) {
    if (ids.length > 0 && !ids.includes(id)) continue;
    const found = await problems();
    if (found === undefined) throw new StartError(`the archive ${id} was not read to its end`);
    if (found.length > 0) bad += 1;
    console.log(`${id}: ${found.length === 0 ? `${rows} rows, intact` : found.join(', ')}`);
  }
  if (archives.length === 0) console.log('there are no archives');
  return bad;
}

async function naming<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ArchiveError ? new StartError(`${error.message}; nothing more was dropped`, { cause: error }) : error;
  }
}
