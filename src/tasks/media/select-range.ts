import type { ByteRange } from './media-storage.ts';

/** The part of a file to send. */
export type SelectedRange =
  | { readonly type: 'whole' }
  | { readonly type: 'part'; readonly range: ByteRange }
  | { readonly type: 'unsatisfiable' };

const whole: SelectedRange = { type: 'whole' };
const unsatisfiable: SelectedRange = { type: 'unsatisfiable' };
/** One range of bytes: `0-99`, `100-`, `-100`. Longer numbers exceed every file. */
const single = /^bytes[ \t]*=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

/**
 * Reads a `Range` field (RFC 9110, section 14). An invalid range and several ranges get the whole file, as the standard
 * allows.
 * @param ifRange the field `If-Range`: if it names another file, the whole file is sent
 * @param entityTag the strong tag of the file
 * @param bytes the size of the whole file
 */
export function selectRange(
  field: string | undefined,
  { ifRange, entityTag, bytes }: { readonly ifRange: string | undefined; readonly entityTag: string; readonly bytes: number },
): SelectedRange {
  if (field === undefined) return whole;
  // A date never matches, because files are identified by their content and have no dates.
  if (ifRange !== undefined && ifRange.trim() !== entityTag) return whole;
  const [, first, last] = single.exec(field.trim()) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return whole;
  return first === '' ? selectSuffix(Number(last), bytes) : selectFrom(Number(first), last === '' ? Infinity : Number(last), bytes);
}

/** The last bytes of a file. */
function selectSuffix(length: number, bytes: number): SelectedRange {
  if (length === 0 || bytes === 0) return unsatisfiable;
  return { type: 'part', range: { start: Math.max(0, bytes - length), end: bytes - 1 } };
}

function selectFrom(start: number, end: number, bytes: number): SelectedRange {
  // A range that ends before it begins is invalid and must be ignored.
  if (end < start) return whole;
  if (start >= bytes) return unsatisfiable;
  return { type: 'part', range: { start, end: Math.min(end, bytes - 1) } };
}

/** Whether a client that sends `If-None-Match` already has the file. */
export function isKnownTo(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((tag) => {
    const bare = tag.trim().replace(/^W\//, '');
    return bare === '*' || bare === entityTag;
  });
}
