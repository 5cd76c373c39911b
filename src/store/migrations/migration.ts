/**
 * One step of the schema. `shared` runs unchanged on every engine (text, bigint, double precision and smallint only).
 * Statements that differ between engines, such as triggers, are under the name of the engine and run after it. A
 * released migration is never edited.
 */
export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly shared: readonly string[];
  readonly sqlite: readonly string[];
  readonly postgres: readonly string[];
};
