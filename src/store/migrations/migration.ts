/**
 * One step of the schema. `shared` runs unchanged on every engine (text, bigint, double precision and smallint only); what an engine
 * words in its own way, such as triggers, stands under the engine's name and runs after it. A released migration is never edited.
 */
export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly shared: readonly string[];
  readonly sqlite: readonly string[];
  readonly postgres: readonly string[];
};
