import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { StoreError } from '../store-error.ts';

/** Where the server is and how long it may take. Times are in milliseconds. */
export type PostgresOptions = {
  /**
   * `postgresql://user:password@host:port/database`. `?host=/run/postgresql` is the folder of a local socket. `?sslmode=` is `disable`, `require` (encrypted, the certificate is not looked at) or
   * `verify-full`; without it a server that is not on this machine has to show a certificate for its name. `?sslrootcert=` is a file with the authorities to trust.
   */
  readonly url: string;
  /** Connections at most. */
  readonly poolMax: number;
  /** How long reaching the server may take. */
  readonly connectTimeoutMs: number;
  /** How long a statement may take. */
  readonly statementTimeoutMs: number;
  /** How long a statement waits for another transaction's rows. */
  readonly lockTimeoutMs: number;
  readonly readOnly: boolean;
  /** Whether the store opens although the server cannot be reached. Its schema is then looked at before the first call that can. */
  readonly mayBeAway: boolean;
  /** As the server's list of sessions shows it. */
  readonly applicationName: string;
};

/** Past the server's own limit: an answer that comes no more. */
const answerMarginMs = 2000;

/** What the driver is told. Nothing is taken from the environment. Throws StoreError `unavailable` for a URL that is none; its message does not hold the URL, which may have a password. */
export function toClientConfig(options: PostgresOptions): ClientConfig {
  const url = parseUrl(options.url);
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname.replace(/^\[(.*)\]$/, '$1'));
  const { statementTimeoutMs, lockTimeoutMs, connectTimeoutMs, readOnly } = options;
  // A commit has reached the server's disk when it returns: the journal forgets entries on that promise.
  const settings = ['synchronous_commit=on', 'timezone=UTC', `default_transaction_read_only=${readOnly ? 'on' : 'off'}`];
  return {
    host,
    port: url.port === '' ? Number(url.searchParams.get('port') ?? 5432) : Number(url.port),
    user: decodeURIComponent(url.username) || 'weir',
    password: () => decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || 'weir',
    ssl: toTls(url, host),
    application_name: options.applicationName,
    options: settings.map((setting) => `-c ${setting}`).join(' '),
    client_encoding: 'UTF8',
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + answerMarginMs,
    keepAlive: true,
  };
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol)) {
    throw new StoreError('unavailable', 'The URL of the database is none of the form postgresql://user:password@host:port/database.');
  }
  return url;
}

const ownMachine = /^(?:\/.*|localhost|127\.\d+\.\d+\.\d+|::1)$/;

function toTls(url: URL, host: string): false | ConnectionOptions {
  const mode = url.searchParams.get('sslmode') ?? (ownMachine.test(host) ? 'disable' : 'verify-full');
  if (mode === 'disable') return false;
  if (mode === 'require') return { rejectUnauthorized: false };
  if (mode !== 'verify-full')
    throw new StoreError('unavailable', 'sslmode in the URL of the database has to be disable, require or verify-full.');
  const path = url.searchParams.get('sslrootcert');
  return path === null ? { rejectUnauthorized: true } : { rejectUnauthorized: true, ca: readAuthorities(path) };
}

function readAuthorities(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new StoreError('unavailable', `The authorities in ${path} (sslrootcert) cannot be read.`, { cause });
  }
}
