import { isWordAt, type Span } from './span.ts';

/** ISO 13616: the country, two check digits and up to 30 letters and digits, often in groups of four. */
const beginning = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}/g;
const charactersMin = 15;
const charactersMax = 34;

/** Finds International Bank Account Numbers with right check digits. Linear: each look is at most 34 characters. */
export function findIbans(text: string): readonly Span[] {
  const spans: Span[] = [];
  for (const { index } of text.matchAll(beginning)) {
    const end = endOfIban(text, index);
    if (end !== undefined) spans.push({ start: index, end, kind: 'iban' });
  }
  return spans;
}

/** The end of the longest account number that begins here. */
function endOfIban(text: string, start: number): number | undefined {
  let compact = '';
  let end: number | undefined;
  let at = start;
  for (let spaces = 0; at < text.length && compact.length < charactersMax && spaces <= 10; at += 1) {
    const character = text.charAt(at);
    if (/[ \u00a0-]/.test(character)) {
      if (/[ \u00a0-]/.test(text.charAt(at - 1))) break;
      spaces += 1;
      continue;
    }
    if (!/[A-Za-z0-9]/.test(character)) break;
    compact += character;
    if (compact.length >= charactersMin && !isWordAt(text, at + 1) && hasRightCheckDigits(compact)) end = at + 1;
  }
  return end;
}

/** ISO 7064, MOD 97-10, over the number with its first four characters at the end. */
function hasRightCheckDigits(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
