import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type Static, Type } from 'typebox';

import { wordProblem } from '../../dialects/word-problem.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import { checkWithoutCompiling } from '../../platform/schema/compile-check.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import { StartError } from '../environment.ts';

/** Names in a backup. */
export const backupFiles = {
  manifest: 'manifest.json',
  sqlite: 'weir.sqlite',
  postgres: 'database.dump',
  nodeId: 'node-id',
  /** The key in clear, as in a data directory. */
  key: 'proof-vault.key',
  sealedKey: 'proof-vault.key.sealed',
  media: 'media.jsonl',
  mediaFolder: 'media',
} as const;

const instant = Type.String({ format: 'date-time' });
const count = Type.Integer({ minimum: 0 });
const amount = Type.String({ pattern: '^-?[0-9]{1,40}$' });
const sum = Type.Object({ calls: count, amount_nano_usd: amount });

const manifestSchema = Type.Object({
  format: Type.Literal(1),
  /** The program that made it. */
  weir: Type.String(),
  begun_at: instant,
  ended_at: instant,
  moment: Type.Object({
    /** Every call of this gateway that had ended by then is in the backup. */
    complete_until: instant,
    /** No call that began later, and no other change, is in it. */
    nothing_after: instant,
  }),
  database: Type.Optional(
    Type.Object({
      engine: Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')]),
      schema: count,
      id: Type.Optional(Type.String()),
      calls: count,
      amount_nano_usd: amount,
      last_accepted_at: Type.Optional(instant),
      billed: sum,
      statistics: sum,
    }),
  ),
  journals: Type.Object({
    slots: Type.Array(Type.Object({ slot: Type.String({ pattern: '^journal(-[1-9][0-9]*)?$' }), segments: count, calls: count })),
    calls: count,
    /** Calls that only a journal has: the next start books them. Absent without a database. */
    not_in_database: Type.Optional(count),
  }),
  key: Type.Object({
    state: Type.Union([Type.Literal('sealed'), Type.Literal('in clear'), Type.Literal('left out')]),
    fingerprint: Type.Optional(Type.String()),
  }),
  media: Type.Optional(Type.Object({ objects: count, bytes: count, files: Type.Optional(Type.Object({ copied: count, missing: count })) })),
});

/** What a backup has, and of which moment. */
export type Manifest = Static<typeof manifestSchema>;

const isManifest = checkWithoutCompiling(manifestSchema);

export function writeManifest(folder: string, manifest: Manifest): void {
  writeFileSync(join(folder, backupFiles.manifest), `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600, flush: true });
}

/** @throws StartError if the file is missing or is not one of this version */
export function readManifest(folder: string): Manifest {
  const path = join(folder, backupFiles.manifest);
  const value = parseJsonObject(readFileSync(path));
  if (isManifest(value)) return value;
  const problems = describeProblems(manifestSchema, value, 3).map(wordProblem);
  throw new StartError(
    `${path} is not a manifest that this version can read (${problems.join('; ')}); restore with the version that made it`,
  );
}
