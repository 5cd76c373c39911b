import { type Bytes, BytePieces } from '../byte-pieces.ts';

/** A replacement of the bytes `[start, end)` of a JSON text. `start === end` inserts. */
export type JsonEdit = { readonly start: number; readonly end: number; readonly replacement: string };

/** Applies edits that do not overlap, in any order. Returns the same buffer if there are none. */
export function applyJsonEdits(bytes: Buffer, edits: readonly JsonEdit[]): Buffer {
  return edits.length === 0 ? bytes : Buffer.concat(cutAndReplace(bytes, edits));
}

/** A larger text is not copied. Joining a smaller one costs less than handling its pieces. */
const copiedBytesMax = 32 * 1024;

/** The same for a text that is only sent. A large one consists of views of the bytes, which must not change. */
export function spliceJson(bytes: Buffer, edits: readonly JsonEdit[]): Bytes {
  if (edits.length === 0 || bytes.length <= copiedBytesMax) return applyJsonEdits(bytes, edits);
  return new BytePieces(cutAndReplace(bytes, edits));
}

function cutAndReplace(bytes: Buffer, edits: readonly JsonEdit[]): readonly Buffer[] {
  const parts: Buffer[] = [];
  let position = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < position) throw new RangeError('JSON edits overlap');
    parts.push(bytes.subarray(position, edit.start), Buffer.from(edit.replacement));
    position = edit.end;
  }
  parts.push(bytes.subarray(position));
  return parts;
}
