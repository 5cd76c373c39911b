import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

import type { Logger } from '../../platform/log.ts';
import { makeDirectory } from '../../platform/make-directory.ts';
import { openPostgresStore, postgresDefaults, type PostgresStoreOptions } from '../../store/postgres/open-postgres-store.ts';
import { lockDataDirectory } from '../../store/sqlite/data-directory-lock.ts';
import { openSqliteStore, type SqliteStoreOptions } from '../../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../store/store.ts';
import type { WorkerStore } from '../../store/worker/connect-store-worker.ts';
import type { AnswerThreadData } from '../programs/answer-threads/open-answer-threads.ts';
import { type DatabaseConfig, defaultDatabase } from '../config/database-schema.ts';
import { readDatabaseConfig } from '../config/find-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { remembersKeys } from './remember-keys.ts';

/** The path of the database in a data directory. */
export function databasePath(dataDirectory: string): string {
  return join(dataDirectory, 'weir.sqlite');
}

/** Ensures that the data directory exists and is writable. Throws StartError with its path. */
export function ensureDataDirectory(dataDirectory: string): void {
  try {
    makeDirectory(dataDirectory);
    accessSync(dataDirectory, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StartError(`the data directory ${dataDirectory} cannot be written (${reason}); set WEIR_DATA_DIR to one that can`, { cause });
  }
}

/**
 * Opens the configured database, or the file in the data directory. Throws StartError or ConfigError if it cannot be
 * used.
 */
export async function openDatabase(
  environment: Environment,
  { onMigrating, ...options }: DatabaseOptions & Pick<SqliteStoreOptions, 'onMigrating'> = {},
): Promise<WorkerStore> {
  const configured = readDatabaseConfig(environment);
  const config = options.url === undefined ? configured : { ...configured, url: options.url };
  const path = databasePath(environment.dataDirectory);
  try {
    return config === undefined
      ? await openSqliteStore({ ...options, path, ...(onMigrating !== undefined && { onMigrating }) })
      : await openPostgres(config, options);
  } catch (cause) {
    const name = config === undefined ? path : 'of the configuration';
    throw new StartError(`the database ${name} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

type DatabaseOptions = Pick<SqliteStoreOptions, 'readOnly' | 'onFailure'> &
  Pick<PostgresStoreOptions, 'mayBeAway'> & {
    /** The PostgreSQL database with another role than in the configuration. */
    readonly url?: string;
  };

/** The database of the monitor's answers, for threads that open it themselves. Throws ConfigError. */
export function describeAnswerDatabase(environment: Environment): AnswerThreadData['database'] {
  const config = readDatabaseConfig(environment);
  if (config === undefined) return { path: databasePath(environment.dataDirectory), busyTimeoutMs: sqliteBusyMs };
  return { ...postgresDefaults, ...postgresOptions(config, { readOnly: true }), readOnly: true };
}

const sqliteBusyMs = 5000;

async function openPostgres(config: DatabaseConfig, options: DatabaseOptions): Promise<WorkerStore> {
  return await openPostgresStore({ ...options, ...postgresOptions(config, options) });
}

function postgresOptions(config: DatabaseConfig, { readOnly }: Pick<DatabaseOptions, 'readOnly'>) {
  const { poolSize, connectMs, statementMs, lockMs } = { ...defaultDatabase, ...config };
  return {
    url: readOnly === true ? (config.monitorUrl ?? config.url) : config.url,
    poolMax: poolSize,
    connectTimeoutMs: connectMs,
    statementTimeoutMs: statementMs,
    lockTimeoutMs: lockMs,
  };
}

/**
 * Opens the store of a data directory. A gateway needs it exclusively and locks the directory first, because two
 * gateways would write the same journal.
 */
export async function openDataDirectory(options: {
  readonly environment: Environment;
  readonly logger: Logger;
  readonly exclusive: boolean;
  readonly opened: AsyncDisposableStack;
}): Promise<Store> {
  const { environment, logger, exclusive, opened } = options;
  const { dataDirectory } = environment;
  ensureDataDirectory(dataDirectory);
  if (exclusive) {
    const lock = lockDataDirectory(dataDirectory);
    opened.defer(() => lock.release());
  }
  const store = await openDatabase(environment, {
    mayBeAway: exclusive && remembersKeys(environment),
    onMigrating: () => logger.warn('database is being migrated'),
    onFailure: (error) => logger.error({ err: error }, 'database worker died'),
  });
  opened.defer(() => store.close());
  return store;
}
