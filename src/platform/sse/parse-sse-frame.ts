import { Frame } from '../frames.ts';
import { findLineEnd } from './find-line-end.ts';

const COLON = 0x3a;
const SPACE = 0x20;

/**
 * Reads the fields of one server-sent event. Lines may end with LF, CRLF or CR; `data:` lines are joined by LF; the
 * last `event:` counts; comments and other fields are ignored. Bytes that are not UTF-8 become U+FFFD in `data`.
 *
 * @param isFirst whether the frame begins the stream, where a byte order mark is skipped
 */
export function parseSseFrame(bytes: Buffer, isFirst: boolean): Frame {
  const { length } = bytes;
  let event: string | undefined;
  let data: string | undefined;
  let at = isFirst && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (at < length) {
    const end = findLineEnd(bytes, at);
    // Fields are distinguished by the first letter, then compared as a whole.
    if (bytes[at] === 0x64 && isField(bytes, at, end, 'data')) {
      const line = bytes.toString('utf8', findValue(bytes, at + 4, end), end);
      data = data === undefined ? line : `${data}\n${line}`;
    } else if (bytes[at] === 0x65 && isField(bytes, at, end, 'event')) {
      event = bytes.toString('utf8', findValue(bytes, at + 5, end), end);
    }
    at = end + 1;
  }
  // An empty event name means the default, as if the field were absent.
  return new Frame(bytes, event === '' ? undefined : event, data ?? '');
}

function isField(bytes: Buffer, start: number, end: number, name: string): boolean {
  const colon = start + name.length;
  if (colon > end || (colon < end && bytes[colon] !== COLON)) return false;
  for (let index = 1; index < name.length; index++) {
    if (bytes[start + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}

/** Where the value begins: after the colon and one space. A field without a colon has an empty value. */
function findValue(bytes: Buffer, colon: number, end: number): number {
  if (colon >= end) return end;
  return bytes[colon + 1] === SPACE ? colon + 2 : colon + 1;
}
