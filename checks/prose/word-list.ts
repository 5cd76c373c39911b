import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

/** An entry of words.yaml, which explains the fields. */
export type WordEntry = {
  readonly say: string;
  readonly not: readonly string[];
  readonly flags?: readonly string[];
  readonly passes?: readonly string[];
};

/** Reads words.yaml. */
export function readWordList(): readonly WordEntry[] {
  return parse(readFileSync(join(import.meta.dirname, 'words.yaml'), 'utf8')) as readonly WordEntry[];
}
