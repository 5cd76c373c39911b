import type { JsonIndex } from './json-index.ts';

const otherThanBase64 = /[^A-Za-z0-9+/=_\s-]/;

/** The decoded bytes are not used; only their number counts. */
const scratch = Buffer.allocUnsafeSlow(48 * 1024);
const pieceCharacters = 64 * 1024;

/**
 * Whether a text has only characters of base64. Line breaks, the URL-safe alphabet and padding anywhere pass, because
 * decoders differ and the vendor's decoder decides. An image of 28 MB takes 2 ms.
 */
export function isBase64(text: string): boolean {
  for (let at = 0; at < text.length; at += pieceCharacters) {
    if (!isPieceOfBase64(text.slice(at, at + pieceCharacters))) return false;
  }
  return true;
}

/**
 * The same for a string of an index, if that is certain: a long text is not decoded as a whole, because its memory
 * takes most of the time. So a long text with escapes is not certain.
 */
export function isBase64At(index: JsonIndex, node: number): boolean {
  if (index.hasEscapes(node) || !index.isAscii(node)) return index.size(node) <= pieceCharacters && isBase64(index.text(node) ?? '');
  for (const piece of piecesAt(index, node)) if (!isPieceOfBase64(piece)) return false;
  return true;
}

/** The pieces of a string of an index, which must be ASCII without escapes. All but the last have the same length. */
export function* piecesAt(index: JsonIndex, node: number): Generator<string> {
  const end = index.end(node) - 1;
  for (let at = index.start(node) + 1; at < end; at += pieceCharacters)
    yield index.bytes.toString('latin1', at, Math.min(at + pieceCharacters, end));
}

const isPieceOfBase64 = (piece: string): boolean => isBareBase64(piece) || !otherThanBase64.test(piece);

/**
 * Whether a piece has only letters and digits of base64, and neither padding nor white space. The vectorised decoder
 * skips other characters, so a piece that decodes to its full length has none. False if the length is not a multiple
 * of four, because the decoder ignores the last characters then, or larger than that of a piece.
 */
export function isBareBase64(piece: string): boolean {
  return piece.length % 4 === 0 && piece.length <= pieceCharacters && scratch.write(piece, 'base64') === (piece.length / 4) * 3;
}
