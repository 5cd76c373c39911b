import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { type Environment, StartError } from '../../environment.ts';

/** The consoles at which the user of this account has signed in, by origin, and the one that `--remote` means. */
export type Logins = {
  readonly default?: string;
  readonly consoles: Readonly<Record<string, { readonly token: string; readonly expires_at: string }>>;
};

/** The file in the user's configuration directory. */
function loginsPath({ variable }: Environment): string {
  const base = variable('XDG_CONFIG_HOME') ?? variable('APPDATA') ?? join(variable('HOME') ?? homedir(), '.config');
  return join(base, 'weir', 'logins.json');
}

/** @throws StartError if the file exists and cannot be read */
export function readLogins(environment: Environment): Logins {
  const path = loginsPath(environment);
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (isLogins(value)) return value;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return { consoles: {} };
    throw new StartError(`${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  throw new StartError(`${path} was not written by weir login; remove it, and sign in again`);
}

function isLogins(value: unknown): value is Logins {
  if (typeof value !== 'object' || value === null || !('consoles' in value)) return false;
  const { consoles } = value;
  if (typeof consoles !== 'object' || consoles === null) return false;
  return Object.values(consoles).every(
    (each: unknown) => typeof each === 'object' && each !== null && 'token' in each && typeof each.token === 'string',
  );
}
