import type { GroundingMetadata } from '@google/genai';

/**
 * Shows the sources of a text as the contract requires of clients (document C, 4.3): a mark after every cited span,
 * inserted from the highest `endIndex` downwards, in bytes of UTF-8.
 */
export function insertMarks(text: string, metadata: GroundingMetadata | undefined): string {
  const supports = (metadata?.groundingSupports ?? []).toSorted(
    (one, other) => (other.segment?.endIndex ?? 0) - (one.segment?.endIndex ?? 0),
  );
  let bytes = Buffer.from(text);
  for (const { segment, groundingChunkIndices = [] } of supports) {
    const at = segment?.endIndex ?? 0;
    const mark = Buffer.from(groundingChunkIndices.map((index) => `[${index + 1}]`).join(''));
    bytes = Buffer.concat([bytes.subarray(0, at), mark, bytes.subarray(at)]);
  }
  return bytes.toString();
}
