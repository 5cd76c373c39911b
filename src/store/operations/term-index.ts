import type { SqlParameter, SqlRow } from './sql-values.ts';

/** What the index needs of a database. */
type Statements = {
  readonly run: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<number>;
  readonly all: (sql: string, ...parameters: readonly SqlParameter[]) => Promise<readonly SqlRow[]>;
};

/** A chunk that was found and how well it fits: more is better, and only scores of one search compare. */
type FoundTerms = { readonly id: number; readonly fileId: string; readonly score: number };

/** The index of the words of chunks, which every engine has in its own way. */
export type TermIndex = {
  /** Adds the words of a chunk that was just inserted, within the caller's transaction. */
  readonly add: (database: Statements, chunk: { readonly id: number; readonly storeId: string; readonly terms: string }) => Promise<void>;
  /** Takes the words of a chunk out of the index. */
  readonly remove: (database: Statements, id: number) => Promise<void>;
  /** @param match as `matchExpression` makes it: words in quotes between OR */
  readonly search: (database: Statements, query: { readonly storeId: string; readonly match: string }) => Promise<readonly FoundTerms[]>;
};
