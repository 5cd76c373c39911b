import { execFileSync } from 'node:child_process';
import { basename, dirname } from 'node:path';

/**
 * Packs a folder as `tar.gz`, with names in one order, the times of the files, and no owner. It needs GNU tar.
 * @returns path of the archive, beside the folder
 */
export function makeArchive(folder) {
  const archive = `${folder}.tar.gz`;
  const order = ['--sort=name', '--format=ustar', '--owner=0', '--group=0', '--numeric-owner'];
  const words = [...order, '--use-compress-program=gzip --no-name -6', '-cf', archive, '-C', dirname(folder), basename(folder)];
  execFileSync('tar', words, { env: { ...process.env, LC_ALL: 'C' } });
  return archive;
}
