import type { SqlParameter, SqlRow } from './sql-values.ts';

/** The methods of a database that the index needs. */
type Statements = {
  readonly run: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<number>;
  readonly all: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<readonly SqlRow[]>;
};

/** A chunk that was found and its score: higher is better, and only scores of one search are comparable. */
type FoundTerms = { readonly id: number; readonly fileId: string; readonly score: number };

/** The full-text index of chunks, which differs between engines. */
export type TermIndex = {
  /** Adds the words of a chunk that was just inserted, within the caller's transaction. */
  readonly add: (database: Statements, chunk: { readonly id: number; readonly storeId: string; readonly terms: string }) => Promise<void>;
  /** Takes the words of a chunk out of the index. */
  readonly remove: (database: Statements, id: number) => Promise<void>;
  /** @param match as `matchExpression` returns it: words in quotes, joined by OR */
  readonly search: (database: Statements, query: { readonly storeId: string; readonly match: string }) => Promise<readonly FoundTerms[]>;
};
