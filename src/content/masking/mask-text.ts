import { findCredentials } from './find-credentials.ts';
import { findCutEnds } from './find-cut-ends.ts';
import { findEmails } from './find-emails.ts';
import { findIbans } from './find-ibans.ts';
import { findNumbers } from './find-numbers.ts';
import { compileOwnPatterns, type Finder, type OwnPattern } from './own-patterns.ts';
import type { Span } from './span.ts';

/** Counts of masked parts by what they were. */
export type MaskCounts = Record<string, number>;

/**
 * Replaces what identifies or authenticates somebody by its kind in brackets: `[email]`.
 * @param counts the findings are added to it
 */
export type MaskText = (text: string, counts?: MaskCounts) => string;

/** The order decides between findings that overlap at the same place. */
const builtIn: readonly Finder[] = [findCredentials, findEmails, findIbans, findNumbers, findCutEnds];

/**
 * The one function that masks: credentials, e-mail addresses, card numbers, account numbers (IBAN), telephone numbers,
 * and the operator's own patterns. Its time is linear in the text. It finds what has a form; names and addresses of
 * people have none. Masking a masked text changes nothing.
 */
export function createMasker(patterns: readonly OwnPattern[] = []): MaskText {
  const finders = [...compileOwnPatterns(patterns), ...builtIn];
  return (text, counts) => {
    const spans = finders.flatMap((find) => find(text));
    return spans.length === 0 ? text : replaceSpans(text, spans, counts);
  };
}

/** Masks credentials only: in what is kept whole for debugging. */
export const maskCredentials: MaskText = (text, counts) => replaceSpans(text, findCredentials(text), counts);

/** Findings that overlap are replaced together, by the kind of the first. */
function replaceSpans(text: string, found: readonly Span[], counts: MaskCounts | undefined): string {
  const spans = found.toSorted((first, second) => first.start - second.start);
  let masked = '';
  let at = 0;
  for (const { start, end, kind } of spans) {
    if (end <= at) continue;
    if (start >= at) {
      masked += `${text.slice(at, start)}[${kind}]`;
      if (counts !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
    }
    at = end;
  }
  return masked + text.slice(at);
}
