/** A part of a text that is masked, from `start` up to and not including `end`. `kind` replaces it in brackets. */
export type Span = { readonly start: number; readonly end: number; readonly kind: string };

const wordCharacter = /[\p{L}\p{N}]/u;

/** Whether the character at this place is a letter or a digit of any script. False outside the text. */
export function isWordAt(text: string, at: number): boolean {
  return at >= 0 && at < text.length && wordCharacter.test(text.charAt(at));
}
