import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

import { parseSecret } from '../../../accounts/api-key-format.ts';
import { type Environment, StartError } from '../../environment.ts';
import { nameAddress } from './read-address.ts';

/** The token of `weir login` for one console. */
export type StoredToken = {
  /** As nameAddress spells it. The token is sent to no other address. */
  readonly address: string;
  readonly token: string;
  /** The id and the name of the token on the console. */
  readonly id: string;
  readonly name: string;
  readonly expires_at: string;
};

/** A file that others may read is read only to end its token. */
type Reading = { readonly evenIfShared?: true };

/**
 * The tokens of this account, a file for each address: two logins at once do not meet. The folder is
 * `$XDG_CONFIG_HOME/weir/consoles`, which only its owner may enter, as the files may only be read by their owner.
 */
export type StoredTokens = {
  readonly pathOf: (address: URL) => string;
  /** The addresses that have a file, in the order of their names. The files may be damaged. */
  readonly addresses: () => readonly string[];
  /** Undefined if there is none. @throws StartError if it is damaged, or others could read it */
  readonly read: (address: URL, reading?: Reading) => StoredToken | undefined;
  /** Makes the folder, so that a login finds out early that it cannot store its token. @throws StartError */
  readonly prepare: () => void;
  /** Replaces the file in one step. @throws StartError */
  readonly write: (address: URL, token: Omit<StoredToken, 'address'>) => void;
  /** False if there was none. */
  readonly remove: (address: URL) => boolean;
};

const suffix = '.json';
const fileBytesMax = 64 * 1024;
/** File systems allow 255. */
const fileNameMax = 240;
const forOthers = 0o077;

/** The folder of the user's configuration, by the XDG base directory specification: relative paths do not count. */
function configHome({ variable }: Pick<Environment, 'variable'>): string {
  const named = variable('XDG_CONFIG_HOME');
  return named !== undefined && isAbsolute(named) ? named : join(variable('HOME') ?? homedir(), '.config');
}

export function openStoredTokens(environment: Pick<Environment, 'variable'>): StoredTokens {
  const folder = join(configHome(environment), 'weir', 'consoles');
  const pathOf = (address: URL): string => {
    const name = `${encodeURIComponent(nameAddress(address))}${suffix}`;
    if (name.length > fileNameMax) throw new StartError(`the address ${address.origin} has a path that is too long to store its token`);
    return join(folder, name);
  };
  return {
    pathOf,
    addresses: () => listNames(folder),
    read: (address, { evenIfShared } = {}) => {
      const text = readOwn(pathOf(address), address, evenIfShared === true);
      return text === undefined ? undefined : decode(text, address, pathOf(address));
    },
    prepare: () => prepareFolder(folder),
    write: (address, token) => {
      prepareFolder(folder);
      const path = pathOf(address);
      const stored: StoredToken = { address: nameAddress(address), ...token };
      withReason(`cannot write ${path}`, () => replaceOwn(folder, path, `${JSON.stringify(stored, undefined, 2)}\n`));
    },
    remove: (address) => {
      const path = pathOf(address);
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
      withReason(`cannot remove ${path}`, () => rmSync(path));
      return true;
    },
  };
}

function listNames(folder: string): readonly string[] {
  const names: string[] = [];
  for (const file of withReason(`cannot read ${folder}`, () => readIfThere(() => readdirSync(folder))) ?? []) {
    const url = file.endsWith(suffix) ? URL.parse(decodeName(file.slice(0, -suffix.length))) : null;
    if (url !== null) names.push(nameAddress(url));
  }
  return names.toSorted();
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A file that somebody else has put there.
    return '';
  }
}

/** The text of a file that belongs to this account; undefined if there is no such file. */
function readOwn(path: string, address: URL, evenIfShared: boolean): string | undefined {
  // A link could lead to a file that others write.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  const handle = withReason(`cannot read ${path}`, () => readIfThere(() => openSync(path, flags)));
  if (handle === undefined) return undefined;
  try {
    const file = fstatSync(handle);
    if (!file.isFile() || file.size > fileBytesMax || !isOwn(file)) throw damaged(path, address);
    if (!evenIfShared && (file.mode & forOthers) !== 0)
      throw new StartError(
        `others may read or write ${path}, so its token is not used: weir logout ${nameAddress(address)} ends it, then sign in again`,
      );
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
}

function decode(text: string, address: URL, path: string): StoredToken {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(path, address);
  }
  const found: Readonly<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {};
  const { address: named, token, id, name, expires_at } = found;
  const isWhole = typeof token === 'string' && parseSecret('at-weir', token) !== undefined && named === nameAddress(address);
  if (!isWhole || typeof id !== 'string' || typeof name !== 'string' || typeof expires_at !== 'string') throw damaged(path, address);
  return { address: named, token, id, name, expires_at };
}

function damaged(path: string, address: URL): StartError {
  const name = nameAddress(address);
  return new StartError(`${path} is damaged or not of this account: weir logout ${name} removes it, then weir login ${name}`);
}

/** @throws StartError unless only this account may enter it */
function prepareFolder(folder: string): void {
  withReason(`cannot make ${folder}`, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  const found = lstatSync(folder);
  if (!found.isDirectory() || !isOwn(found) || (found.mode & forOthers) !== 0)
    throw new StartError(`${folder} must be a folder that only its owner may enter: chmod 700 ${folder}`);
}

/** Also after a crash there is the old file or the new one, which is never readable by others. */
function replaceOwn(folder: string, path: string, text: string): void {
  const draft = join(folder, `.${randomBytes(8).toString('hex')}.draft`);
  try {
    const handle = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Windows has no user ids; there the folder of the account protects the file. */
function isOwn({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

function readIfThere<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @throws StartError that names what could not be done */
function withReason<Result>(what: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new StartError(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
