import type { Span } from './span.ts';

/** No value of these patterns is longer. */
const charactersMax = 160;

/**
 * The beginnings of values, at the end of a text. Of a card number, at least twelve digits; one in groups is found as a
 * telephone number.
 */
const beginnings: readonly (readonly [RegExp, string])[] = [
  [/[\p{L}\p{N}.!#$&'*+\-^_`{|}~]{1,64}(?:@|%40)[\p{L}\p{N}-]{0,63}$/u, 'email'],
  [/\b(?:sk|pk|rk|ak|gsk|xai|hf|r8|nvapi|pplx|whsec|glpat)[-_][A-Za-z0-9_-]{4,15}$/, 'credential'],
  [/(?<!\d[ -]?)[3-6]\d{11,17}$/, 'card'],
];

/** Finds a value that the end of the text cuts, as in a reply that has reached its limit: `jo@exam`. */
export function findCutEnds(text: string): readonly Span[] {
  const from = Math.max(0, text.length - charactersMax);
  const end = text.slice(from);
  return beginnings.flatMap(([pattern, kind]) => {
    const index = pattern.exec(end)?.index;
    return index === undefined ? [] : [{ start: from + index, end: text.length, kind }];
  });
}
