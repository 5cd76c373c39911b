import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { scanSegment, writtenPart } from './journal-record.ts';
import { readSegmentNumbers, segmentName } from './segment-name.ts';

/** A copy of a journal. */
export type CopiedJournal = {
  readonly segments: number;
  /** Every call with a record in it, ended or not. */
  readonly callIds: readonly string[];
};

/** A read that a write has overtaken is repeated. */
const readsMax = 5;
const againMs = 20;

/**
 * Copies the segments of a journal while its process writes it. The copy has every record that was written before, and
 * perhaps some later ones. A segment that disappears meanwhile has only calls that the store has, so copy the store
 * afterwards. Quarantined segments (`.corrupt`) are copied too. Rejects with the error of the operating system or of
 * readSegmentNumbers.
 * @param to is made, readable by its owner only
 */
export async function copySegments(from: string, to: string): Promise<CopiedJournal> {
  mkdirSync(to, { mode: 0o700 });
  const names = readdirSync(from);
  const callIds = new Set<string>();
  let segments = 0;
  for (const number of readSegmentNumbers(names)) {
    const bytes = await readWhole(join(from, segmentName(number)));
    if (bytes === undefined) continue;
    writeFileSync(join(to, segmentName(number)), bytes, { mode: 0o600, flush: true });
    segments += 1;
    for (const { value } of scanSegment(bytes).records) callIds.add((value as { readonly callId: string }).callId);
  }
  for (const name of names.filter((each) => each.endsWith('.corrupt')))
    writeFileSync(join(to, name), readFileSync(join(from, name)), { mode: 0o600, flush: true });
  return { segments, callIds: [...callIds] };
}

/** The written part of a segment; undefined if it was deleted. A damaged one is returned as it is. */
async function readWhole(path: string): Promise<Buffer | undefined> {
  for (let reads = 1; ; reads += 1) {
    const file = readIfThere(path);
    if (file === undefined) return undefined;
    const bytes = writtenPart(file);
    const { cleanBytes, damaged } = scanSegment(bytes);
    // A record at the end may be half written: it was not promised to anybody yet.
    if (cleanBytes === bytes.length || reads === readsMax) return bytes;
    if (!damaged) return bytes.subarray(0, cleanBytes);
    await setTimeout(againMs);
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
