import { ExtractionError } from './extraction-error.ts';

/** With a higher share of control characters, bytes are not text in an old encoding. */
const controlShareMax = 0.001;

/** Decodes a text: UTF-8, UTF-16 with a byte order mark, or Windows-1252. @throws ExtractionError if it is not text */
export function decodeText(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const text = new TextDecoder('windows-1252').decode(bytes);
    const controls = text.match(/\p{Cc}/gu)?.filter((control) => !/\s/.test(control)).length ?? 0;
    if (controls > text.length * controlShareMax)
      throw new ExtractionError('unsupported_file', 'The file is neither text nor a supported document.');
    return text;
  }
}

/**
 * Removes characters that the store and other programs cannot handle: NUL, halves of characters, and line ends of other
 * systems.
 */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '').replaceAll('\u{FFFD}', '').replaceAll(/\r\n?/g, '\n');
}
