import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { type CopiedJournal, copySegments } from '../../billing/journal/copy-segments.ts';
import type { Clock } from '../../platform/clock.ts';
import { makeDirectory } from '../../platform/make-directory.ts';
import { releaseText } from '../../platform/release.ts';
import type { BackupFigures, DatabaseContent } from '../../store/backup/backup-figures.ts';
import { databasePath } from '../assembly/open-data-directory.ts';
import { type Environment, StartError } from '../environment.ts';
import { isArchive, pack } from './archive.ts';
import { saveKey } from './backup-key.ts';
import { saveMedia } from './backup-media.ts';
import { writeChecksums } from './checksums.ts';
import { backupFiles, type Manifest, writeManifest } from './manifest.ts';

export type BackupOptions = {
  readonly environment: Environment;
  readonly clock: Clock;
  /** A folder or, by its ending, a tar file. It must not exist. */
  readonly target: string;
  /** The PostgreSQL database; undefined for the file of the data directory. */
  readonly url: string | undefined;
  /** Without it, only what this gateway has for itself: for further gateways of one database. */
  readonly withDatabase: boolean;
  readonly keyInClear: boolean;
  /** Copies the files of videos and images too. */
  readonly withMedia: boolean;
};

/**
 * Makes a backup while gateways work. The journals are copied before the database, so that each call that has ended is
 * in one of the two: a segment is deleted only when the database has its calls. The target appears when it is complete.
 * @throws StartError, StoreError
 */
export async function writeBackup(options: BackupOptions): Promise<Manifest> {
  const target = resolve(options.target);
  if (existsSync(target)) throw new StartError(`${target} exists: name a new folder, or a new file that ends in .tar or .tar.gz`);
  if (!existsSync(options.environment.dataDirectory))
    throw new StartError(`there is no data directory ${options.environment.dataDirectory}; WEIR_DATA_DIR names it`);
  const draft = `${target}.unfinished`;
  if (existsSync(draft))
    throw new StartError(`${draft} is left of a backup that was interrupted, or of one that runs: delete it if none does`);
  makeDirectory(draft);
  try {
    const manifest = await fill(draft, options);
    if (isArchive(target)) await pack(draft, `${target}.packing`, target);
    renameSync(isArchive(target) ? `${target}.packing` : draft, target);
    return manifest;
  } finally {
    rmSync(draft, { recursive: true, force: true });
    rmSync(`${target}.packing`, { force: true });
  }
}

async function fill(draft: string, options: BackupOptions): Promise<Manifest> {
  const { environment, clock, withDatabase, keyInClear, withMedia } = options;
  const instant = (): string => new Date(clock.nowMs()).toISOString();
  const begunAt = instant();
  const journals = await copyJournals(environment.dataDirectory, draft);
  const callIds = [...new Set(journals.flatMap((journal) => journal.callIds))];
  const content = withDatabase ? await copyDatabase(draft, options, callIds) : undefined;
  const nothingAfter = instant();
  const nodeId = join(environment.dataDirectory, backupFiles.nodeId);
  if (existsSync(nodeId)) copyFileSync(nodeId, join(draft, backupFiles.nodeId));
  const media =
    content === undefined
      ? undefined
      : await saveMedia({ draft, environment, objects: content.media, databaseId: content.figures.databaseId ?? '', withFiles: withMedia });
  const key = saveKey(draft, environment, keyInClear);
  const manifest: Manifest = {
    format: 1,
    weir: releaseText,
    begun_at: begunAt,
    ended_at: instant(),
    moment: { complete_until: begunAt, nothing_after: nothingAfter },
    ...(content !== undefined && { database: describe(content.figures, options.url) }),
    journals: {
      slots: journals.map(({ slot, segments, callIds: calls }) => ({ slot, segments, calls: calls.length })),
      calls: callIds.length,
      ...(content !== undefined && { not_in_database: callIds.length - content.journalBooked }),
    },
    key,
    ...(media !== undefined && { media }),
  };
  writeManifest(draft, manifest);
  await writeChecksums(draft);
  return manifest;
}

const slotPattern = /^journal(?:-[1-9]\d*)?$/;

async function copyJournals(dataDirectory: string, draft: string): Promise<readonly (CopiedJournal & { readonly slot: string })[]> {
  const journals: (CopiedJournal & { readonly slot: string })[] = [];
  for (const slot of readdirSync(dataDirectory).filter((name) => slotPattern.test(name)))
    journals.push({ slot, ...(await copySegments(join(dataDirectory, slot), join(draft, slot))) });
  return journals;
}

async function copyDatabase(draft: string, { environment, url }: BackupOptions, journalCalls: readonly string[]): Promise<DatabaseContent> {
  if (url !== undefined) {
    const { dumpPostgres } = await import('../../store/backup/dump-postgres.ts');
    return await dumpPostgres({ url, to: join(draft, backupFiles.postgres), path: environment.variable('PATH'), journalCalls });
  }
  const from = databasePath(environment.dataDirectory);
  if (!existsSync(from)) throw new StartError(`there is no database ${from}; WEIR_DATA_DIR names the data directory`);
  const { copySqlite } = await import('../../store/backup/copy-sqlite.ts');
  return await copySqlite({ from, to: join(draft, backupFiles.sqlite), journalCalls });
}

function describe(figures: BackupFigures, url: string | undefined): NonNullable<Manifest['database']> {
  const sum = ({ calls, amountNanoUsd }: BackupFigures['billed']) => ({ calls, amount_nano_usd: amountNanoUsd.toString() });
  return {
    engine: url === undefined ? 'sqlite' : 'postgres',
    schema: figures.schema,
    ...(figures.databaseId !== undefined && { id: figures.databaseId }),
    ...sum(figures),
    ...(figures.lastAcceptedAtMs !== undefined && { last_accepted_at: new Date(figures.lastAcceptedAtMs).toISOString() }),
    billed: sum(figures.billed),
    statistics: sum(figures.statistics),
  };
}
