import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';

import { toClientConfig } from '../postgres/connection-options.ts';
import { oneConnection } from '../postgres/migrate-postgres.ts';
import { StoreError } from '../store-error.ts';

/** A tool of PostgreSQL: it has to be of the server's major version or newer. */
type Tool = 'pg_dump' | 'pg_restore';

/**
 * Runs a tool of PostgreSQL that is found on PATH. Its connection is in its environment, because every user of the
 * machine can read the words of a command. Rejects with StoreError, which names the tool and its own error.
 * @param input a file that it reads, @param output a file that it writes, which must not exist
 */
export async function runTool(
  tool: Tool,
  words: readonly string[],
  options: { readonly url: string; readonly path: string | undefined; readonly input?: string; readonly output?: string },
): Promise<void> {
  const stdin = options.input === undefined ? 'ignore' : openSync(options.input, 'r');
  const stdout = options.output === undefined ? 'ignore' : openSync(options.output, 'wx', 0o600);
  try {
    const env = { PATH: options.path ?? '', LC_ALL: 'C', ...describeConnection(options.url) };
    const child = spawn(tool, words, { env, stdio: [stdin, stdout, 'pipe'] });
    const errors = child.stderr === null ? Promise.resolve('') : text(child.stderr);
    const [code] = (await Promise.race([once(child, 'close'), failToStart(child, tool)])) as [number | null];
    if (code === 0) return;
    throw new StoreError('unavailable', `${tool} failed: ${(await errors).trim().slice(0, 2000) || `it ended with ${String(code)}`}`);
  } finally {
    for (const file of [stdin, stdout]) if (typeof file === 'number') closeSync(file);
  }
}

async function failToStart(child: ReturnType<typeof spawn>, tool: Tool): Promise<never> {
  const [cause] = (await once(child, 'error')) as [NodeJS.ErrnoException];
  const reason =
    cause.code === 'ENOENT'
      ? `${tool} is not on PATH: install the client programs of PostgreSQL, of the server's version or newer (Debian: apt-get install postgresql-client)`
      : `${tool} cannot be started: ${cause.message}`;
  throw new StoreError('unavailable', reason, { cause });
}

/** The variables by which PostgreSQL's programs reach the same database as our driver, with the same checks. */
function describeConnection(url: string): Record<string, string> {
  const { host, port, user, database, ssl } = toClientConfig({ ...oneConnection, url });
  const address = new URL(url);
  const authorities = address.searchParams.get('sslrootcert');
  const isChecked = typeof ssl === 'object' && ssl.rejectUnauthorized === true;
  return {
    PGHOST: host ?? '',
    PGPORT: String(port),
    PGUSER: user ?? '',
    PGDATABASE: database ?? '',
    PGAPPNAME: 'weir backup',
    PGCONNECT_TIMEOUT: '10',
    PGSSLMODE: ssl === false ? 'disable' : isChecked ? 'verify-full' : 'require',
    ...(isChecked && { PGSSLROOTCERT: authorities ?? 'system' }),
    ...(address.password !== '' && { PGPASSWORD: decodeURIComponent(address.password) }),
  };
}
