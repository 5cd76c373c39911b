const charactersPerToken = 4;

/** Input tokens of an inline image, audio clip or document, whatever its size. */
export const tokensPerMedia = 256;

/**
 * Number of tokens of a text by the simulator's published rule: one token per four UTF-16 code units, rounded up. No
 * vendor counts like this, but anybody can recompute it.
 */
export function countTokens(text: string): number {
  return tokensOfLength(text.length);
}

/** The same rule for a text of which only the length is known. */
export function tokensOfLength(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

/** The longest prefix of a text that counts at most `tokensMax` tokens and does not end inside a character. */
export function cutToTokens(text: string, tokensMax: number): string {
  const length = tokensMax * charactersPerToken;
  if (text.length <= length) return text;
  return text.slice(0, characterBoundary(text, length));
}

/**
 * Cuts a text into the pieces for the frames of a stream, never inside a character. The tokens of the pieces add up to
 * `countTokens` of the whole text. The empty text has no pieces. With `charactersBefore`, the text continues one that
 * was counted until there, as the arguments of a tool call continue its name.
 */
export function splitText(text: string, tokensPerPiece = 4, charactersBefore = 0): { readonly text: string; readonly tokens: number }[] {
  const pieces: { readonly text: string; readonly tokens: number }[] = [];
  const step = Math.max(1, tokensPerPiece) * charactersPerToken;
  let start = 0;
  while (start < text.length) {
    const end = start + step >= text.length ? text.length : characterBoundary(text, start + step);
    // Differences of running totals, so that rounding up never counts a token twice.
    pieces.push({
      text: text.slice(start, end),
      tokens: tokensOfLength(charactersBefore + end) - tokensOfLength(charactersBefore + start),
    });
    start = end;
  }
  return pieces;
}

/** Moves an index by one code unit if it would split a surrogate pair, and never so that a piece becomes empty. */
function characterBoundary(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff && index > 0 ? index - 1 : index;
}
