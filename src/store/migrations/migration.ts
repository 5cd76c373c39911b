/**
 * One step of the schema. `shared` runs unchanged on every engine (text, bigint, double precision and smallint only).
 * Statements that differ between engines, such as triggers, are under the name of the engine and run after it. A
 * released migration is never edited.
 *
 * A migration expands: programs of the version before go on working on the new schema, and fill what they write with
 * its defaults. A migration that removes something which they need is a `contract`, and they refuse the database
 * (docs/decisions/2026-11-27-upgrades.md).
 */
export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly contract?: true;
  readonly shared: readonly string[];
  readonly sqlite: readonly string[];
  readonly postgres: readonly string[];
};
