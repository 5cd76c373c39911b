import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, statSync } from 'node:fs';

import { createFileOnce } from '../../../../platform/create-file-once.ts';
import { secretKeyBytes } from '../../../../platform/seal/sealer.ts';

/** The key cannot be used. The message is for the operator and contains nothing of the key. */
export class ProofKeyError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ProofKeyError';
  }
}

/**
 * Loads the key of the proof vault: the configured one, which lets several machines use one store, otherwise the one in
 * the file. A missing file is created with 32 random bytes and is readable only by its owner.
 * @param given.text 64 hexadecimal digits or 44 characters of base64 (43 without the padding)
 * @param given.name the name of the setting, for the message
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
    throw new ProofKeyError(`${given.name} is not a key; it must be ${secretKeyBytes} random bytes as 64 hexadecimal digits or as base64`);
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

/** Undefined if there is no such file. */
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
      `the key file ${path} is damaged; restore it. If you delete it, the reasoning proofs and stored responses that it sealed are lost`,
    );
  }
  tighten(path);
  return key;
}

/** A mounted or restored volume may have made the file readable for others. A file of another owner stays as it is. */
function tighten(path: string): void {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  } catch (error) {
    if (!hasCode(error, 'EPERM') && !hasCode(error, 'EROFS')) throw error;
  }
}

/** If several processes create a key at once, one wins and all use its key. */
function createKey(path: string): Buffer {
  const key = randomBytes(secretKeyBytes);
  if (createFileOnce(path, `${key.toString('hex')}\n`)) return key;
  return readKey(path) ?? key;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
