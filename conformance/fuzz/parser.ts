import type { Random } from './mutate.ts';
import type { SeedKind } from './seed-files.ts';

/** What a parser did with a file. `ended`: a limit stopped it. */
export type Outcome = 'read' | 'refused' | 'ended';

/** A parser of untrusted bytes, and the files that it gets. */
export type Parser = {
  readonly seeds: SeedKind;
  /** How its files are broken; by default bytes are flipped and removed. */
  readonly mutate?: (file: Buffer, index: number, cases: number, random: Random) => Buffer;
  readonly parse: (bytes: Buffer, tenant: string, signal: AbortSignal) => Promise<Outcome>;
};
