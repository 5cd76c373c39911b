import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';

import { secretKeyBytes } from '../../../../platform/seal/sealer.ts';

/** The key cannot be used. The message is for the operator and holds nothing of the key. */
export class ProofKeyError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ProofKeyError';
  }
}

/**
 * The key of the proof vault: the one that the operator gave, which is what lets several machines read one store, else the one in the file, which is
 * created with 32 random bytes, for its owner's eyes only, where there is none.
 * @param given.text 64 hexadecimal digits or 44 characters of base64 (43 without the sign at the end)
 * @param given.name what the operator calls it, for the message
 * @throws ProofKeyError
 */
export function loadProofKey(options: {
  readonly path: string;
  readonly given?: { readonly name: string; readonly text: string } | undefined;
}): Buffer {
  const { path, given } = options;
  if (given !== undefined) {
    const key = parseKey(given.text);
    if (key !== undefined) return key;
    throw new ProofKeyError(`${given.name} is no key: give ${secretKeyBytes} random bytes as 64 hexadecimal digits or as base64`);
  }
  try {
    return readKey(path) ?? createKey(path);
  } catch (cause) {
    if (cause instanceof ProofKeyError) throw cause;
    throw new ProofKeyError(`the key file ${path} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function parseKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  return /^(?:[A-Za-z0-9+/]{43}=?|[\w-]{43}=?)$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

/** Undefined when there is no such file. */
function readKey(path: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  const key = parseKey(text.trim());
  if (key === undefined) {
    throw new ProofKeyError(
      `the key file ${path} is damaged; restore it, or delete it: what was kept under it, reasoning proofs and stored responses, is then lost`,
    );
  }
  tighten(path);
  return key;
}

/** A volume that was mounted or restored may have opened the file to others. One that belongs to somebody else stays as it is. */
function tighten(path: string): void {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  } catch (error) {
    if (!hasCode(error, 'EPERM') && !hasCode(error, 'EROFS')) throw error;
  }
}

/** Writes the file whole or not at all. Of several processes that do so at once, one wins and all use its key. */
function createKey(path: string): Buffer {
  const key = randomBytes(secretKeyBytes);
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, `${key.toString('hex')}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(draft, path);
    return key;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return readKey(path) ?? key;
    // A file system without hard links: whoever is last to get here wins, which matters only to processes that start at the same moment.
    renameSync(draft, path);
    return key;
  } finally {
    rmSync(draft, { force: true });
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
