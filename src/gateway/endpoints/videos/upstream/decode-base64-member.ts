import { ResultError } from '../../../../tasks/video-upstreams.ts';

/** The longest text between the name of a member and its value. */
const spaceMax = 64;

/**
 * Decodes the value in base64 of the first member with a name, from a JSON text that arrives in pieces.
 * @throws ResultError if there is no such member, or the text ends within it
 */
export async function* decodeBase64Member(content: AsyncIterable<Buffer>, member: string): AsyncGenerator<Buffer, undefined> {
  const begin = new RegExp(`"${member}"\\s{0,${spaceMax}}:\\s{0,${spaceMax}}"`);
  const carriedMax = member.length + 2 * spaceMax + 8;
  let carried = '';
  let isInside = false;
  for await (const piece of content) {
    let text = carried + piece.toString('latin1');
    if (!isInside) {
      const found = begin.exec(text);
      if (found === null) {
        carried = text.slice(-carriedMax);
        continue;
      }
      isInside = true;
      text = text.slice(found.index + found[0].length);
    }
    const end = text.indexOf('"');
    const { bytes, rest } = decode(end < 0 ? text : text.slice(0, end), end >= 0);
    if (bytes.length > 0) yield bytes;
    if (end >= 0) return undefined;
    carried = rest;
  }
  throw new ResultError(isInside ? 'the reply with the result ends within it' : 'the reply has no result', { isGone: false });
}

/** Decodes whole groups of four characters. The rest is the beginning of a group or of an escape. */
function decode(text: string, isWhole: boolean): { readonly bytes: Buffer; readonly rest: string } {
  const open = /\\(?:u[\da-fA-F]{0,3})?$/.exec(text)?.index ?? text.length;
  const plain = text
    .slice(0, open)
    .replaceAll(/\\u([\da-fA-F]{4})/g, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\\', '');
  const whole = isWhole ? plain.length : plain.length - (plain.length % 4);
  return { bytes: Buffer.from(plain.slice(0, whole), 'base64'), rest: plain.slice(whole) + text.slice(open) };
}
