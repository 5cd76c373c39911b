import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { verifyStart } from '../../billing/credits/credit-books.ts';
import type { Clock } from '../../platform/clock.ts';
import { makeDirectory } from '../../platform/make-directory.ts';
import type { BackupFigures } from '../../store/backup/backup-figures.ts';
import { DataDirectoryLockedError, lockDataDirectory } from '../../store/sqlite/data-directory-lock.ts';
import type { Store } from '../../store/store.ts';
import { databasePath, openDatabase } from '../assembly/open-data-directory.ts';
import { type Environment, StartError } from '../environment.ts';
import { isArchive, unpack } from './archive.ts';
import { readBackupKey, type RestoredKey, restoreKey } from './backup-key.ts';
import { type RestoredMedia, restoreMedia } from './backup-media.ts';
import { verifyChecksums } from './checksums.ts';
import { backupFiles, type Manifest, readManifest } from './manifest.ts';

export type RestoreOptions = {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly source: string;
  /** The PostgreSQL database to restore into; undefined for the file of the data directory. */
  readonly url: string | undefined;
  /** Moves what is in the target aside instead of refusing it. */
  readonly replace: boolean;
};

/** What a restore did. */
export type Restored = {
  readonly manifest: Manifest;
  /** The folder with the previous files of the data directory, and the name of the previous schema in PostgreSQL. */
  readonly movedAside: readonly string[];
  readonly key: RestoredKey;
  readonly media: RestoredMedia;
  /** Rows of the credit ledger that were added up, and what does not add up. */
  readonly books: { readonly rows: number; readonly problems: readonly string[] } | undefined;
};

/**
 * Puts a backup into an empty data directory and, for PostgreSQL, an empty database, and adds up the books. Everything
 * is verified before anything is changed. @throws StartError, StoreError
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { environment } = options;
  const source = resolve(options.source);
  if (!existsSync(source)) throw new StartError(`there is no backup ${source}`);
  makeDirectory(environment.dataDirectory);
  const lock = lockTarget(environment.dataDirectory);
  const unpacked = statSync(source).isDirectory() ? undefined : mkdtempSync(join(resolve(environment.dataDirectory), 'restore-'));
  try {
    if (unpacked !== undefined) await unpackFile(source, unpacked);
    return await restoreFolder(unpacked ?? source, options);
  } finally {
    if (unpacked !== undefined) rmSync(unpacked, { recursive: true, force: true });
    lock.release();
  }
}

function lockTarget(dataDirectory: string): ReturnType<typeof lockDataDirectory> {
  try {
    return lockDataDirectory(dataDirectory);
  } catch (error) {
    throw error instanceof DataDirectoryLockedError ? new StartError(error.message, { cause: error }) : error;
  }
}

async function unpackFile(source: string, folder: string): Promise<void> {
  if (!isArchive(source)) throw new StartError(`${source} is not a backup: it is a file, and does not end in .tar, .tar.gz or .tgz`);
  await unpack(source, folder);
}

async function restoreFolder(folder: string, options: RestoreOptions): Promise<Restored> {
  const { environment } = options;
  await verifyChecksums(folder);
  const manifest = readManifest(folder);
  checkEngine(manifest, options.url);
  const key = readBackupKey(folder, environment, manifest);
  const movedAside = await makeRoom(manifest, options);
  const figures = await restoreDatabase(folder, manifest, options, movedAside.schema);
  if (figures !== undefined) compare(manifest, figures);
  restoreFiles(folder, environment, manifest, key);
  const media = await restoreMedia(folder, { environment, databaseId: manifest.database?.id ?? '' });
  const books = manifest.database === undefined ? undefined : await addUp(options);
  return { manifest, movedAside: Object.values(movedAside), key, media, books };
}

function checkEngine({ database }: Manifest, url: string | undefined): void {
  if (database === undefined || (database.engine === 'postgres') === (url !== undefined)) return;
  throw new StartError(
    database.engine === 'postgres'
      ? 'the backup is of a PostgreSQL database: name the one to restore into, with `database.url` in the configuration or --url'
      : 'the backup is of the file of a data directory, and the configuration names a PostgreSQL database: restore without `database.url`, then run `weir migrate sqlite postgres`',
  );
}

/** What the lock and this command themselves have in the directory, and what the operator put there. */
const notOurs = /^(?:weir\.lock.*|restore-.*|before-restore-.*|weir\.yaml|lost\+found)$/;

type Aside = { readonly folder?: string; readonly schema?: string };

/** @throws StartError if the target has something and the operator did not say that it may be replaced */
async function makeRoom(manifest: Manifest, { environment, clock, url, replace }: RestoreOptions): Promise<Aside> {
  const { dataDirectory } = environment;
  const found = readdirSync(dataDirectory).filter((name) => !notOurs.test(name));
  // Without the key in the backup, the one that the operator has put there is needed, and media may have survived.
  const kept = manifest.key.state === 'left out' ? [backupFiles.key, backupFiles.mediaFolder] : [backupFiles.mediaFolder];
  const inTheWay = found.filter((name) => !(kept as readonly string[]).includes(name));
  const target = url === undefined || manifest.database === undefined ? undefined : await describeDatabase(url);
  const full = [
    ...(inTheWay.length > 0 ? [`the data directory ${dataDirectory} has ${inTheWay.slice(0, 5).join(', ')}`] : []),
    ...(target !== undefined && target.tables > 0 ? [`the schema ${target.schema} of the database has ${target.tables} tables`] : []),
  ];
  if (full.length > 0 && !replace)
    throw new StartError(`${full.join(', and ')}: restore into an empty target, or add --replace, which moves what is there aside`);
  const label = `before-restore-${new Date(clock.nowMs()).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  const folder = join(dataDirectory, label);
  if (inTheWay.length > 0) mkdirSync(folder, { mode: 0o700 });
  for (const name of inTheWay) renameSync(join(dataDirectory, name), join(folder, name));
  return {
    ...(inTheWay.length > 0 && { folder }),
    ...(target !== undefined && target.tables > 0 && { schema: label.replaceAll('-', '_').toLowerCase() }),
  };
}

async function describeDatabase(url: string) {
  const { describeTarget } = await import('../../store/backup/restore-postgres.ts');
  const target = await describeTarget(url);
  if (target.sessions.length > 0)
    throw new StartError(`programs of Weir are connected to the database (${target.sessions.join(', ')}): stop all of them first`);
  return target;
}

/** @returns the figures of the restored database, read before it is migrated */
async function restoreDatabase(
  folder: string,
  { database }: Manifest,
  { environment, url }: RestoreOptions,
  aside: string | undefined,
): Promise<BackupFigures | undefined> {
  if (database === undefined) return undefined;
  if (url !== undefined) {
    const { restorePostgres } = await import('../../store/backup/restore-postgres.ts');
    const from = join(folder, backupFiles.postgres);
    await restorePostgres({ url, from, path: environment.variable('PATH'), ...(aside !== undefined && { aside }) });
    const { readPostgresFigures } = await import('../../store/backup/dump-postgres.ts');
    return await readPostgresFigures(url);
  }
  const path = databasePath(environment.dataDirectory);
  const draft = `${path}.restored`;
  copyFileSync(join(folder, backupFiles.sqlite), draft);
  const { readSqliteFigures } = await import('../../store/backup/copy-sqlite.ts');
  const figures = await readSqliteFigures(draft);
  renameSync(draft, path);
  return figures;
}

/** @throws StartError if the restored ledger is not the one that was backed up, or differs from its statistics */
function compare({ database }: Manifest, figures: BackupFigures): void {
  const describe = (calls: number, amount: string | bigint): string => `${calls} calls with ${amount} nano-USD`;
  const [expected, found] = [
    describe(database?.calls ?? 0, database?.amount_nano_usd ?? '0'),
    describe(figures.calls, figures.amountNanoUsd),
  ];
  if (expected !== found) throw new StartError(`the restored ledger has ${found}, and the backup says ${expected}`);
  const [billed, counted] = [figures.billed, figures.statistics].map(({ calls, amountNanoUsd }) => describe(calls, amountNanoUsd));
  if (billed !== counted) throw new StartError(`the restored ledger bills ${billed}, and its statistics have ${counted}`);
}

function restoreFiles(folder: string, environment: Environment, manifest: Manifest, key: RestoredKey): void {
  const { dataDirectory } = environment;
  for (const { slot } of manifest.journals.slots) cpSync(join(folder, slot), join(dataDirectory, slot), { recursive: true });
  const nodeId = join(folder, backupFiles.nodeId);
  if (existsSync(nodeId)) copyFileSync(nodeId, join(dataDirectory, backupFiles.nodeId));
  restoreKey(environment, key, manifest);
}

const rowsAtOnce = 2000;

/** Adds up the credit ledger. Opening the database brings its schema up to date. */
async function addUp({ environment, url }: RestoreOptions): Promise<NonNullable<Restored['books']>> {
  const store: Store = await openDatabase(environment, url === undefined ? {} : { url });
  try {
    let rows = 0;
    const problems: string[] = [];
    for (let cursor = verifyStart; ;) {
      const slice = await store.verifyBooks({ cursor, limit: rowsAtOnce });
      rows += slice.checked;
      problems.push(...slice.problems.map(({ accountId, what }) => `${accountId ?? '-'}: ${what}`));
      if (slice.next === undefined) return { rows, problems };
      cursor = slice.next;
    }
  } finally {
    await store.close();
  }
}
