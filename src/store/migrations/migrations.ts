import { initialSchema } from './0001-initial-schema.ts';
import { reasoningProofs } from './0002-reasoning-proofs.ts';
import { strictTranslation } from './0003-strict-translation.ts';
import { limits } from './0004-limits.ts';
import { conversations } from './0005-conversations.ts';
import { fileSearch } from './0006-file-search.ts';
import { videoTasks } from './0007-video-tasks.ts';

/**
 * One step of the schema. `shared` runs unchanged on every engine (text, bigint, double precision and smallint only); what an engine
 * words in its own way, such as triggers, stands under the engine's name and runs after it. A released migration is never edited.
 */
export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly shared: readonly string[];
  readonly sqlite: readonly string[];
};

/** In ascending order of version, without gaps, starting at 1. */
export const migrations: readonly Migration[] = [
  initialSchema,
  reasoningProofs,
  strictTranslation,
  limits,
  conversations,
  fileSearch,
  videoTasks,
];
