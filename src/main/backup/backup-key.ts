import { createHmac, randomBytes, scryptSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createSealer } from '../../platform/seal/sealer.ts';
import { loadStoreKey } from '../assembly/load-store-key.ts';
import { backupPasswordVariable, type Environment, proofKeyVariable, StartError } from '../environment.ts';
import { backupFiles, type Manifest } from './manifest.ts';

const sealedName = Buffer.from('weir backup: proof-vault.key');
const saltBytes = 16;
/** 128 MB and about half a second for each password that somebody tries. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const passwordCharactersMin = 12;

/** Identifies a key without revealing anything of it: keys are random. */
function fingerprint(key: Buffer): string {
  return createHmac('sha256', key).update('weir backup: fingerprint').digest('hex').slice(0, 16);
}

/** The file of the key in a data directory. */
const keyPath = ({ dataDirectory }: Pick<Environment, 'dataDirectory'>): string => join(dataDirectory, backupFiles.key);

function readPassword(environment: Environment): string | undefined {
  const password = environment.variable(backupPasswordVariable);
  if (password !== undefined && password.length < passwordCharactersMin)
    throw new StartError(`${backupPasswordVariable} must have ${passwordCharactersMin} characters or more; it has ${password.length}`);
  return password;
}

const sealerFor = (password: string, salt: Uint8Array) => createSealer(scryptSync(password, salt, 32, cost));

/**
 * Puts the key of sealed data into a backup: sealed with the operator's password, in clear if the operator says so,
 * else not at all. A key of the environment is never put in, because its owner keeps it elsewhere.
 * @throws StartError
 */
export function saveKey(folder: string, environment: Environment, inClear: boolean): Manifest['key'] {
  const isGiven = environment.variable(proofKeyVariable) !== undefined;
  const password = readPassword(environment);
  if (!isGiven && !existsSync(keyPath(environment))) return { state: 'left out' };
  const key = loadStoreKey(environment);
  const found = { fingerprint: fingerprint(key) };
  if (isGiven) return { state: 'left out', ...found };
  if (inClear) {
    writeFileSync(join(folder, backupFiles.key), `${key.toString('hex')}\n`, { mode: 0o600, flush: true });
    return { state: 'in clear', ...found };
  }
  if (password === undefined) return { state: 'left out', ...found };
  const salt = randomBytes(saltBytes);
  const sealed = Buffer.concat([salt, sealerFor(password, salt).seal(sealedName, key)]);
  writeFileSync(join(folder, backupFiles.sealedKey), sealed, { mode: 0o600, flush: true });
  return { state: 'sealed', ...found };
}

/** How a restore gets the key: the bytes to write to the data directory, or that its owner has to bring it. */
export type RestoredKey = { readonly write?: Buffer; readonly isMissing: boolean };

/** Reads the key of a backup, before anything is changed. @throws StartError for a wrong password or another key */
export function readBackupKey(folder: string, environment: Environment, { key }: Manifest): RestoredKey {
  if (environment.variable(proofKeyVariable) !== undefined) {
    if (key.fingerprint !== undefined && fingerprint(loadStoreKey(environment)) !== key.fingerprint)
      throw new StartError(`${proofKeyVariable} is not the key of this backup, whose fingerprint is ${key.fingerprint}`);
    return { isMissing: false };
  }
  if (key.state === 'in clear')
    return { write: Buffer.from(readFileSync(join(folder, backupFiles.key), 'utf8').trim(), 'hex'), isMissing: false };
  if (key.state === 'sealed') return { write: openKey(folder, environment), isMissing: false };
  if (key.fingerprint === undefined) return { isMissing: false };
  if (!existsSync(keyPath(environment))) return { isMissing: true };
  if (fingerprint(loadStoreKey(environment)) !== key.fingerprint)
    throw new StartError(`${keyPath(environment)} is not the key of this backup, whose fingerprint is ${key.fingerprint}`);
  return { isMissing: false };
}

/**
 * Writes the key to the data directory. In the place of a missing one is a text that no start takes for a key: it would
 * create another key, with which nothing that was sealed can be read.
 */
export function restoreKey(environment: Environment, key: RestoredKey, { key: saved }: Manifest): void {
  const missing = `Replace this file by the key with the fingerprint ${saved.fingerprint ?? ''}.`;
  const text = key.isMissing ? missing : key.write?.toString('hex');
  if (text !== undefined) writeFileSync(keyPath(environment), `${text}\n`, { mode: 0o600, flush: true });
}

function openKey(folder: string, environment: Environment): Buffer {
  const password = readPassword(environment);
  if (password === undefined)
    throw new StartError(
      `the key in this backup is sealed: set ${backupPasswordVariable} to its password, or ${proofKeyVariable} to the key`,
    );
  const file = readFileSync(join(folder, backupFiles.sealedKey));
  const key = sealerFor(password, file.subarray(0, saltBytes)).open(sealedName, file.subarray(saltBytes));
  if (key === undefined) throw new StartError(`${backupPasswordVariable} is not the password of this backup`);
  return key;
}
