import type { TranslationNote } from '../../inference/translation-notes.ts';

/** The header that tells a client what translation did to its request besides carrying it over. */
const warningHeader = 'x-gateway-warning';

/** Headers of some kilobytes are cut by proxies; what does not fit is counted. */
const charactersMax = 2000;

/** One note in header letters: `dropped top_k (…)`. */
function formatNote({ kind, field, reason }: TranslationNote): string {
  return `${kind} ${field} (${reason})`.replace(/[^\x20-\x7e]/g, '?').replace(/,/g, ';');
}

/** Headers with more warnings than they bring. */
export function addWarnings(
  headers: Readonly<Record<string, string>>,
  notes: readonly TranslationNote[],
): Readonly<Record<string, string>> {
  const told = translationHeaders(notes)[warningHeader];
  if (told === undefined) return headers;
  const known = headers[warningHeader];
  return { ...headers, [warningHeader]: known === undefined ? told : `${known}, ${told}` };
}

/** The warning header of a translated call; none when everything was carried as it was. */
export function translationHeaders(notes: readonly TranslationNote[]): Readonly<Record<string, string>> {
  if (notes.length === 0) return {};
  let text = '';
  let written = 0;
  for (const note of notes) {
    const next = (written === 0 ? '' : ', ') + formatNote(note);
    if (text.length + next.length > charactersMax) break;
    text += next;
    written += 1;
  }
  const left = notes.length - written;
  return { [warningHeader]: left === 0 ? text : `${text}${written === 0 ? '' : ', '}and ${left} more` };
}
