import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { StoreError } from '../store-error.ts';

/** Address of the server, and time limits in milliseconds. */
export type PostgresOptions = {
  /**
   * `postgresql://user:password@host:port/database`. `?host=/run/postgresql` is the folder of a local socket.
   * `?sslmode=` is `disable`, `require` (encrypted, the certificate is not checked) or `verify-full`. Without it, a
   * server on another machine must have a certificate for its name. `?sslrootcert=` is a file with trusted authorities.
   */
  readonly url: string;
  /** The most connections. */
  readonly poolMax: number;
  /** Time limit for connecting to the server. */
  readonly connectTimeoutMs: number;
  /** Time limit of a statement. */
  readonly statementTimeoutMs: number;
  /** How long a statement waits for rows that another transaction has locked. */
  readonly lockTimeoutMs: number;
  readonly readOnly: boolean;
  /**
   * Whether the store opens while the server is unreachable. Its schema is then checked before the first call that
   * reaches it.
   */
  readonly mayBeAway: boolean;
  /** The name in the server's list of sessions. */
  readonly applicationName: string;
};

/** Added to the server's own limit, after which no answer comes. */
const answerMarginMs = 2000;

/**
 * The options of the driver. Nothing is taken from the environment. Throws StoreError `unavailable` for an invalid URL;
 * the message does not contain the URL, which may have a password.
 */
export function toClientConfig(options: PostgresOptions): ClientConfig {
  const url = parseUrl(options.url);
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname.replace(/^\[(.*)\]$/, '$1'));
  const { statementTimeoutMs, lockTimeoutMs, connectTimeoutMs, readOnly } = options;
  // A commit is on the server's disk when it returns: the journal deletes entries because of that. The server estimates
  // a thousand times too many rows for the parts of a span. So it would compile machine code for each question, and
  // would read whole tables in parallel where an index has the few rows. A year by a tag took more than 15 s at ten
  // million calls, and now takes half a second.
  const settings = [
    'synchronous_commit=on',
    'timezone=UTC',
    'jit=off',
    'max_parallel_workers_per_gather=0',
    `default_transaction_read_only=${readOnly ? 'on' : 'off'}`,
  ];
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
    throw new StoreError('unavailable', 'The URL of the database must have the form postgresql://user:password@host:port/database.');
  }
  return url;
}

const ownMachine = /^(?:\/.*|localhost|127\.\d+\.\d+\.\d+|::1)$/;

function toTls(url: URL, host: string): false | ConnectionOptions {
  const mode = url.searchParams.get('sslmode') ?? (ownMachine.test(host) ? 'disable' : 'verify-full');
  if (mode === 'disable') return false;
  if (mode === 'require') return { rejectUnauthorized: false };
  if (mode !== 'verify-full')
    throw new StoreError('unavailable', 'sslmode in the URL of the database must be disable, require or verify-full.');
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
