import { stepBytesUsual, WorkSlices } from '../yield-queue.ts';
import type { JsonIndex } from './json-index.ts';
import { JsonScanner, jsonLimitsUsual, type JsonLimits, scanJson } from './scan-json.ts';
import { indexScanned } from './scanner/index-scanned.ts';
import { TextScan, windowBytesUsual } from './scanner/text-scan.ts';

/**
 * Checks a JSON text as `scanJson` does, and returns the index of its values and keys.
 * @throws JsonProblemError
 */
export function indexJson(bytes: Buffer, limits: JsonLimits = {}): JsonIndex {
  const scan = new TextScan(bytes, { ...jsonLimitsUsual, ...limits });
  try {
    let index: JsonIndex | false | undefined;
    while (index === undefined) index = scan.step();
    if (index !== false) return index;
  } finally {
    scan.release();
  }
  // This finds what is wrong, or that nothing is.
  scanJson(bytes, limits);
  return indexScanned(bytes);
}

/**
 * The same in slices between which the process does other work.
 * @throws JsonProblemError
 */
export async function indexJsonInSlices(
  bytes: Buffer,
  limits: JsonLimits,
  { slices = new WorkSlices(), stepBytes = stepBytesUsual }: { readonly slices?: WorkSlices; readonly stepBytes?: number } = {},
): Promise<JsonIndex> {
  const scan = new TextScan(bytes, { ...jsonLimitsUsual, ...limits }, Math.min(stepBytes, windowBytesUsual));
  try {
    let index: JsonIndex | false | undefined;
    while ((index = scan.step()) === undefined) if (slices.isOver) await slices.yield();
    if (index !== false) return index;
  } finally {
    scan.release();
  }
  const scanner = new JsonScanner(bytes, limits);
  for (let stopAt = stepBytes; !scanner.scan(stopAt);) {
    // White space and plain text may have taken the scan beyond `stopAt`.
    stopAt = Math.max(stopAt, scanner.position) + stepBytes;
    if (slices.isOver) await slices.yield();
  }
  return indexScanned(bytes);
}
