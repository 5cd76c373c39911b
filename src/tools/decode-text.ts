/**
 * The length of the beginning in which a page may declare its encoding:
 * https://html.spec.whatwg.org/#prescan-a-byte-stream-to-determine-its-encoding
 */
const prescanBytes = 1024;

/**
 * Decodes the text of a file. The encoding is that of the byte order mark, or the server's, or the one that the file
 * declares, or UTF-8. Like in browsers, invalid UTF-8 is read as Windows-1252. Invalid bytes become U+FFFD. Undefined
 * if it is not text.
 * @param charset the encoding that the server names
 */
export function decodeText(bytes: Uint8Array, charset: string | undefined): string | undefined {
  const named = markOf(bytes) ?? charset ?? declaredIn(bytes);
  const text = decode(bytes, named) ?? decodeUnnamed(bytes);
  return isBinary(text) ? undefined : text;
}

function markOf(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined;
}

function declaredIn(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, prescanBytes)).toString('latin1');
  return (
    /<meta[^>]{0,200}?charset\s*=\s*["']?([a-z0-9_.:-]{1,40})/i.exec(head)?.[1] ??
    /<\?xml[^>]{0,100}?encoding=["']([^"']{1,40})/i.exec(head)?.[1]
  );
}

function decode(bytes: Uint8Array, charset: string | undefined): string | undefined {
  if (charset === undefined) return undefined;
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // An unknown encoding counts as none.
    return undefined;
  }
}

function decodeUnnamed(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8').decode(bytes);
  // The end of the file may have cut off the last character.
  return text.indexOf('\uFFFD') >= 0 && text.indexOf('\uFFFD') < text.length - 1 ? new TextDecoder('windows-1252').decode(bytes) : text;
}

/** Texts have hardly any control characters; compressed data, programs and images have many. */
function isBinary(text: string): boolean {
  const sample = text.slice(0, 4096);
  if (sample === '') return false;
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  const odd = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\uFFFD]/g)?.length ?? 0;
  // A character that was cut off at the end does not count.
  return odd > 2 + sample.length / 20;
}
