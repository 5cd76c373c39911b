import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { type Finding, tidyWords } from './finding.ts';

const gibibyte = 1024 ** 3;
const spaceWanted = gibibyte;
const spaceNeeded = gibibyte / 10;

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The nearest existing directory, in which a missing one would be created. */
function nearestDirectory(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestDirectory(dirname(path));
}

/** Checks the data directory without creating or changing anything. */
export function checkDataDirectory(dataDirectory: string): readonly Finding[] {
  try {
    return lookInto(dataDirectory);
  } catch (error) {
    const says = tidyWords(`it cannot be examined: ${error instanceof Error ? error.message : String(error)}`);
    return [{ verdict: 'bad', subject: 'directory', says, advice: 'run weir doctor as the user that runs Weir' }];
  }
}

function lookInto(dataDirectory: string): readonly Finding[] {
  const path = resolve(dataDirectory);
  const there = existsSync(path);
  if (there && !statSync(path).isDirectory())
    return [{ verdict: 'bad', subject: 'directory', says: `${path} is not a directory`, advice: 'set WEIR_DATA_DIR to a directory' }];
  const place = there ? path : nearestDirectory(path);
  if (!mayWrite(place)) {
    const says = `${path} cannot be ${there ? 'written' : 'made'} by this user`;
    return [
      {
        verdict: 'bad',
        subject: 'directory',
        says,
        advice: `give this user the right to write ${place}, or set WEIR_DATA_DIR to another directory`,
      },
    ];
  }
  const says = there ? `${path} can be written` : `${path} is not there yet: the first start makes it`;
  const holder = there ? readHolder(path) : undefined;
  return [
    { verdict: 'good', subject: 'directory', says },
    checkSpace(place),
    ...(there ? checkRights(path) : []),
    ...(holder === undefined ? [] : [describeHolder(holder)]),
    ...(there ? checkJournal(path, holder?.isAlive ?? false) : []),
  ];
}

function checkSpace(place: string): Finding {
  const { bavail, bsize } = statfsSync(place);
  const free = bavail * bsize;
  const says = `${(free / gibibyte).toFixed(1)} GiB are free`;
  if (free >= spaceWanted) return { verdict: 'good', subject: 'disk', says };
  const advice = 'a full disk stops the books, and with them every call: make room';
  return { verdict: free < spaceNeeded ? 'bad' : 'warning', subject: 'disk', says, advice };
}

/** The database contains all usage, and the proof key may be next to it. */
function checkRights(path: string): readonly Finding[] {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return [];
  const open = readdirSync(path).filter((name) => /\.sqlite$|key/i.test(name) && (statSync(join(path, name)).mode & 0o044) !== 0);
  if (open.length === 0) return [];
  const says = `others on this machine may read ${open.map((name) => tidyWords(name)).join(', ')}`;
  return [{ verdict: 'warning', subject: 'rights', says, advice: `chmod 700 ${path}` }];
}

type Holder = { readonly text: string; readonly isAlive: boolean };

/**
 * Reads the recorded holder of the directory. The lock itself is not opened, because this could take it from a starting
 * gateway.
 */
function readHolder(path: string): Holder | undefined {
  let text: string;
  try {
    text = readFileSync(join(path, 'weir.lock.holder'), 'utf8').trim();
  } catch {
    return undefined;
  }
  const match = /^(\d+) on (.+)$/.exec(text);
  if (match === null) return { text: tidyWords(text), isAlive: false };
  const [, pid = '', host = ''] = match;
  return { text: tidyWords(text), isAlive: host === hostname() ? isRunning(Number(pid)) : true };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists, but belongs to another user.
    return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EPERM';
  }
}

function describeHolder({ text, isAlive }: Holder): Finding {
  const subject = 'gateway';
  if (isAlive) return { verdict: 'good', subject, says: `in use by a gateway: process ${text}` };
  return { verdict: 'none', subject, says: `process ${text} used it and is gone: it was killed` };
}

/** The unit of `blocks`. */
const statBlockBytes = 512;

/** Segments exist while calls run. Without a running gateway they are from a killed one. */
function checkJournal(path: string, hasGateway: boolean): readonly Finding[] {
  const directory = join(path, 'journal');
  if (hasGateway || !existsSync(directory)) return [];
  const sizes = readdirSync(directory)
    .filter((name) => name.startsWith('segment-'))
    .map((name) => statSync(join(directory, name)))
    // The rest of the segment of a killed gateway is zeros that take no room.
    .map(({ size, blocks }) => Math.min(size, blocks * statBlockBytes))
    .filter((size) => size > 0);
  const subject = 'journal';
  if (sizes.length === 0) return [{ verdict: 'good', subject, says: 'no segments of earlier runs remain' }];
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const says = `${sizes.length} ${sizes.length === 1 ? 'segment' : 'segments'} of an earlier run, ${bytes} bytes`;
  return [{ verdict: 'none', subject, says: `${says}: the next start settles the calls in it` }];
}
