import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Positions that are kept, because a failure that repeats has the same stack. */
const keptMax = 2000;
const kept = new Map<string, string>();

/** The folder of this module: that of the bundle, if it is in one. */
const folder = import.meta.url.slice(0, import.meta.url.lastIndexOf('/') + 1);
const wordBytes = 4;

/**
 * Replaces the positions in bundled files by those in the sources, in a line of a stack. Without a bundle the text is
 * unchanged. `build/build-program.ts` writes the tables that this reads, a few bytes of them for each new position.
 */
export function mapBuiltPositions(text: string): string {
  return text.replace(/file:\/\/[^\s()]+?\.js:\d+(?::\d+)?/g, (position) => {
    if (!position.startsWith(folder)) return position;
    const known = kept.get(position);
    if (known !== undefined) return known;
    const found = findSource(position) ?? position;
    if (kept.size >= keptMax) kept.clear();
    kept.set(position, found);
    return found;
  });
}

function findSource(position: string): string | undefined {
  const [, name = '', line = ''] = /([^/]+\.js):(\d+)(?::\d+)?$/.exec(position) ?? [];
  try {
    const file = openSync(new URL(`${name}.lines`, folder), 'r');
    try {
      return readTable(file, Number(line));
    } finally {
      closeSync(file);
    }
  } catch {
    // These are the sources, or the bundle was removed while it ran.
    return undefined;
  }
}

function readTable(file: number, line: number): string | undefined {
  const [lines = 0] = readWords(file, 0, 1);
  const [source = 0, sourceLine = 0] = line < 1 || line > lines ? [] : readWords(file, 2 * line - 1, 2);
  if (source === 0) return undefined;
  const namesAt = wordBytes * (1 + 2 * lines);
  const names = Buffer.alloc(fstatSync(file).size - namesAt);
  readSync(file, names, 0, names.length, namesAt);
  const path = names.toString().split('\n')[source - 1];
  return path === undefined ? undefined : `${path}:${sourceLine}`;
}

function readWords(file: number, from: number, count: number): readonly number[] {
  const bytes = Buffer.alloc(wordBytes * count);
  readSync(file, bytes, 0, bytes.length, wordBytes * from);
  return Array.from({ length: count }, (_, index) => bytes.readUInt32LE(wordBytes * index));
}
