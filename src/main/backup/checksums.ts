import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { StartError } from '../environment.ts';

/** In the format of `sha256sum`, which verifies it too. It is written last: a backup without it is not complete. */
const checksumsFile = 'SHA256SUMS';

/** Hashes every file of a folder and writes the list. */
export async function writeChecksums(folder: string): Promise<void> {
  const lines: string[] = [];
  for (const name of listFiles(folder)) lines.push(`${await hashFile(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, checksumsFile), lines.join(''), { mode: 0o600, flush: true });
}

/** @throws StartError that names the files which are missing, changed or not listed */
export async function verifyChecksums(folder: string): Promise<void> {
  const listed = readList(folder);
  const found = listFiles(folder).filter((name) => name !== checksumsFile);
  const problems: string[] = [];
  for (const name of found) if (!listed.has(name)) problems.push(`${name} is not listed`);
  for (const [name, expected] of listed) {
    if (!found.includes(name)) problems.push(`${name} is missing`);
    else if ((await hashFile(join(folder, name))) !== expected) problems.push(`${name} was changed`);
  }
  if (problems.length > 0)
    throw new StartError(
      `the backup is damaged: ${problems.slice(0, 5).join('; ')}${problems.length > 5 ? `; and ${problems.length - 5} more` : ''}`,
    );
}

function readList(folder: string): ReadonlyMap<string, string> {
  let text: string;
  try {
    text = readFileSync(join(folder, checksumsFile), 'utf8');
  } catch (cause) {
    throw new StartError(`${folder} is not a complete backup: it has no ${checksumsFile}`, { cause });
  }
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [, sum, name] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
        if (sum === undefined || name === undefined) throw new StartError(`the backup is damaged: ${checksumsFile} has the line "${line}"`);
        return [name, sum];
      }),
  );
}

/** Paths of all files below a folder. @throws StartError for anything but files and folders */
function listFiles(folder: string, below = ''): readonly string[] {
  return readdirSync(join(folder, below))
    .toSorted()
    .flatMap((entry) => {
      const name = below === '' ? entry : `${below}/${entry}`;
      const found = lstatSync(join(folder, name));
      if (found.isDirectory()) return listFiles(folder, name);
      if (!found.isFile()) throw new StartError(`the backup is damaged: ${name} is not a file`);
      return [name];
    });
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
