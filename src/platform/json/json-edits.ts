/** A replacement of the bytes `[start, end)` of a JSON text. `start === end` inserts. */
export type JsonEdit = { readonly start: number; readonly end: number; readonly replacement: string };

/** Applies edits that do not overlap, in any order. Returns the same buffer if there are none. */
export function applyJsonEdits(bytes: Buffer, edits: readonly JsonEdit[]): Buffer {
  if (edits.length === 0) return bytes;
  const parts: Buffer[] = [];
  let position = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < position) throw new RangeError('JSON edits overlap');
    parts.push(bytes.subarray(position, edit.start), Buffer.from(edit.replacement));
    position = edit.end;
  }
  parts.push(bytes.subarray(position));
  return Buffer.concat(parts);
}
