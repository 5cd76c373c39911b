import type { Chunking } from './file-objects.ts';

/** A stretch of text that stays whole if possible: a sentence, a line, or a part of one that is too long. */
type Piece = { readonly start: number; readonly end: number; readonly tokens: number; readonly endsParagraph: boolean };

/** Ends of paragraphs, lines and sentences, including closing quotes and brackets. */
const borders = /\n\s*\n|\n|[.!?…]["'”’)\]]*\s|[。！？]["'”’」』）]*/gu;
const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const charactersPerToken = 4;

/**
 * Estimates the tokens of a text: one per character of Chinese, Japanese or Korean, a quarter per character of other
 * scripts.
 */
export function estimateTextTokens(text: string): number {
  const wideCharacters = text.match(wide)?.length ?? 0;
  return wideCharacters + (text.length - wideCharacters) / charactersPerToken;
}

/**
 * Splits a text into overlapping chunks at the ends of sentences, and of paragraphs if one is near. No chunk is longer
 * than allowed, and none is blank.
 */
export function chunkText(text: string, { tokensMax, overlapTokens }: Chunking): readonly string[] {
  const pieces = cutPieces(text, tokensMax);
  const chunks: string[] = [];
  let first = 0;
  while (first < pieces.length) {
    const end = fill(pieces, first, tokensMax);
    const start = pieces[first]?.start ?? 0;
    const chunk = text.slice(start, pieces[end - 1]?.end ?? start).trim();
    if (chunk !== '') chunks.push(chunk);
    if (end >= pieces.length) break;
    first = stepBack(pieces, { first, end }, overlapTokens);
  }
  return chunks;
}

/** The share of a chunk that may stay empty so that it ends with a paragraph. */
const paragraphSlack = 0.25;

/** Finds the piece with which the next chunk may begin, after all pieces that fit. */
function fill(pieces: readonly Piece[], first: number, tokensMax: number): number {
  let tokens = 0;
  let end = first;
  let lastParagraph: number | undefined;
  for (; end < pieces.length; end++) {
    const piece = pieces[end];
    if (piece === undefined || (end > first && tokens + piece.tokens > tokensMax)) break;
    tokens += piece.tokens;
    if (piece.endsParagraph && tokens >= tokensMax * (1 - paragraphSlack)) lastParagraph = end + 1;
  }
  return end < pieces.length && lastParagraph !== undefined ? lastParagraph : end;
}

/** Finds where the next chunk begins: as far back as the overlap allows, but always after the start of this one. */
function stepBack(
  pieces: readonly Piece[],
  { first, end }: { readonly first: number; readonly end: number },
  overlapTokens: number,
): number {
  let next = end;
  let tokens = 0;
  while (next - 1 > first) {
    tokens += pieces[next - 1]?.tokens ?? 0;
    if (tokens > overlapTokens) break;
    next -= 1;
  }
  return next;
}

function cutPieces(text: string, tokensMax: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  const add = (end: number, endsParagraph: boolean): void => {
    if (end > start) addPiece(pieces, text, { start, end, tokensMax, endsParagraph });
    start = end;
  };
  for (const border of text.matchAll(borders)) add(border.index + border[0].length, /\n\s*\n/.test(border[0]));
  add(text.length, true);
  return pieces;
}

type Stretch = { readonly start: number; readonly end: number; readonly tokensMax: number; readonly endsParagraph: boolean };

/**
 * Adds a stretch. If it is longer than a chunk, it is split between words, or between characters if there are no
 * spaces.
 */
function addPiece(pieces: Piece[], text: string, { start, end, tokensMax, endsParagraph }: Stretch): void {
  let from = start;
  while (from < end) {
    const most = Math.min(end, from + tokensMax * charactersPerToken);
    let to = most;
    while (estimateTextTokens(text.slice(from, to)) > tokensMax) to = from + Math.max(1, Math.floor((to - from) / 2));
    if (to < end) to = softEnd(text, from, to);
    pieces.push({ start: from, end: to, tokens: estimateTextTokens(text.slice(from, to)), endsParagraph: endsParagraph && to === end });
    from = to;
  }
}

/**
 * Finds the end of the last word before a position, if one is near. Otherwise the position itself, or the start of the
 * character that it would split.
 */
function softEnd(text: string, from: number, to: number): number {
  const space = text.lastIndexOf(' ', to - 1);
  if (space > from + (to - from) / 2) return space + 1;
  return to - from > 1 && /[\uD800-\uDBFF]/.test(text[to - 1] ?? '') ? to - 1 : to;
}
