import { Pool } from 'pg';
import type { PoolClient } from 'pg';
import type { SqlParameter, SqlRow, ValueRow } from '../operations/sql-values.ts';
import { toClientConfig } from './connection-options.ts';
import type { PostgresOptions } from './connection-options.ts';
import { isConnectionLost, toStoreError } from './postgres-error.ts';
import { numberPlaceholders } from './number-placeholders.ts';
import { getTypeParser, keepText, toText } from './wire-values.ts';

/** The result of one statement. */
type Outcome = { readonly command: string; readonly rows: readonly SqlRow[]; readonly changes: number };

/** One connection while it is lent. Rejects with StoreError. */
export type Session = {
  /** Runs one statement with `?` for its parameters, prepared once per connection. */
  readonly query: (sql: string, parameters: readonly SqlParameter[]) => Promise<Outcome>;
  /** As `query`, with rows as lists of the unparsed texts of the server. */
  readonly queryRows: (sql: string, parameters: readonly SqlParameter[]) => Promise<readonly ValueRow[]>;
  /** Runs fixed statements without parameters. */
  readonly execute: (sql: string) => Promise<string>;
};

export type ConnectionPool = {
  /** Lends a connection to `work`. A connection that was lost, or whose state is unknown, is not lent again. */
  readonly use: <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>;
  readonly close: () => Promise<void>;
};

/** Opens connections when they are needed, none before the first use. */
export function openPool(options: PostgresOptions): ConnectionPool {
  const pool = new Pool({ ...toClientConfig(options), types: { getTypeParser }, max: options.poolMax, idleTimeoutMillis: idleMs });
  // A connection was lost between statements. The pool has noticed, or the next statement fails; without a listener the
  // thread would end.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const names = new Map<string, { readonly name: string; readonly text: string }>();
  const prepare = (sql: string): { readonly name: string; readonly text: string } =>
    names.getOrInsertComputed(sql, () => ({ name: `weir_${names.size}`, text: numberPlaceholders(sql) }));
  return {
    use: async (work) => {
      const client = await connect(pool);
      let lost = true;
      try {
        const result = await work(createSession(client, prepare));
        lost = false;
        return result;
      } catch (error) {
        lost = isConnectionLost(error);
        throw error;
      } finally {
        client.release(lost);
      }
    },
    close: () => pool.end(),
  };
}

/** A connection that is idle for this time is closed. */
const idleMs = 60_000;

async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw toStoreError(error);
  }
}

function createSession(client: PoolClient, prepare: (sql: string) => { readonly name: string; readonly text: string }): Session {
  return {
    query: async (sql, parameters) => {
      try {
        const result = await client.query<Record<string, SqlParameter>>({ ...prepare(sql), values: parameters.map(toText) });
        return { command: result.command, rows: result.rows, changes: result.rowCount ?? 0 };
      } catch (error) {
        throw toStoreError(error);
      }
    },
    queryRows: async (sql, parameters) => {
      try {
        const config = { ...prepare(sql), values: parameters.map(toText), rowMode: 'array', types: { getTypeParser: keepText } } as const;
        return (await client.query<SqlParameter[]>(config)).rows;
      } catch (error) {
        throw toStoreError(error);
      }
    },
    execute: async (sql) => {
      try {
        return (await client.query(sql)).command;
      } catch (error) {
        throw toStoreError(error);
      }
    },
  };
}
