import type { Command } from 'commander';

import { systemClock } from '../../platform/clock.ts';
import type { Manifest } from '../backup/manifest.ts';
import { restoreBackup, type Restored } from '../backup/restore-backup.ts';
import { writeBackup } from '../backup/write-backup.ts';
import { backupPasswordVariable, type Environment, proofKeyVariable, StartError } from '../environment.ts';
import { findUrl, type UrlOption, urlText } from './database.ts';

type BackupFlags = UrlOption & { readonly database: boolean; readonly keyInClear?: boolean; readonly media?: boolean };

/** Adds `weir backup`. */
export function addBackupCommand(program: Command, environment: Environment): void {
  program
    .command('backup')
    .description('copies the database, the journals and the list of media files while gateways work, and states its moment')
    .argument('<target>', 'a new folder, or a new file that ends in .tar or .tar.gz')
    .option('--url <url>', urlText)
    .option('--media', 'copies the files of videos and images too, also those of a bucket')
    .option('--no-database', 'only the journals and the key, for each further gateway of a shared database')
    .option('--key-in-clear', `puts the key of sealed data in without sealing it; ${backupPasswordVariable} seals it`)
    .action(async (target: string, options: BackupFlags) => {
      const { database: withDatabase, keyInClear = false, media: withMedia = false } = options;
      const url = findUrl(environment, options);
      const manifest = await writeBackup({ environment, clock: systemClock, target, url, withDatabase, keyInClear, withMedia });
      console.log(`${target}: ${describeContent(manifest)}`);
      describeMoment(manifest);
      describeLeftOut(manifest);
    });
}

/** Adds `weir restore`. */
export function addRestoreCommand(program: Command, environment: Environment): void {
  program
    .command('restore')
    .description('puts a backup into an empty data directory or database, adds up its books, and says which moment that is')
    .argument('<source>', 'a folder or file of weir backup')
    .option('--url <url>', urlText)
    .option('--replace', 'moves what is in the target aside instead of refusing it')
    .action(async (source: string, { replace = false, ...options }: UrlOption & { readonly replace?: boolean }) => {
      const url = findUrl(environment, options);
      describeRestored(await restoreBackup({ environment, clock: systemClock, source, url, replace }));
    });
}

function describeContent({ database, journals }: Manifest): string {
  const ledger =
    database === undefined ? 'no database' : `${database.calls} booked calls (${database.engine}, schema version ${database.schema})`;
  const more = journals.not_in_database === undefined ? `${journals.calls} calls` : `${journals.not_in_database} more calls`;
  return `${ledger}, ${more} in ${journals.slots.length} journals`;
}

function describeMoment({ moment }: Manifest): void {
  console.log(`in it: every call that had ended by ${moment.complete_until}; not in it: whatever began after ${moment.nothing_after}`);
}

/** To standard error: what the operator has to keep elsewhere. */
function describeLeftOut({ key, media }: Manifest): void {
  if (key.state === 'left out' && key.fingerprint !== undefined)
    console.error(
      `the key of sealed data (fingerprint ${key.fingerprint}) is not in it: keep proof-vault.key or ${proofKeyVariable} elsewhere, or set ${backupPasswordVariable} to seal it into the backup`,
    );
  if (key.state === 'in clear')
    console.error('the key of sealed data is in the backup in clear: its readers can read stored responses and files');
  if (media !== undefined && media.files === undefined && media.objects > 0)
    console.error(`${media.objects} media files (${media.bytes} bytes) are listed, not copied: copy their storage now, or use --media`);
  if (media?.files !== undefined && media.files.missing > 0)
    console.error(`${media.files.missing} media files were missing in their storage`);
}

function describeRestored({ manifest, movedAside, key, media, books }: Restored): void {
  console.log(`restored: ${describeContent(manifest)}`);
  describeMoment(manifest);
  for (const name of movedAside) console.error(`what was there is in ${name}`);
  if (key.isMissing)
    console.error(
      `stored responses and files cannot be read without the key with the fingerprint ${manifest.key.fingerprint ?? ''}: replace proof-vault.key in the data directory by it, or set ${proofKeyVariable}, before the first start`,
    );
  if (media.missing > 0) console.error(`${media.missing} of ${media.objects} media files are missing in their storage`);
  if (books === undefined) return;
  if (books.problems.length > 0) throw new StartError(`the restored books do not add up:\n${books.problems.join('\n')}`);
  console.log(`the books add up: ${books.rows} rows verified, and the statistics equal the ledger`);
}
