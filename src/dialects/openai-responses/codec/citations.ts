import type { Citation } from '../../../inference/citation.ts';
import { countCodePoints } from '../../../inference/count-code-points.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import { countOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

function readSpan(annotation: JsonObject): Pick<Citation, 'start' | 'end'> {
  const start = countOf(annotation.start_index);
  const end = countOf(annotation.end_index);
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
}

/**
 * Reads an annotation of a text part. The vendor counts characters, as the neutral form does. Undefined for kinds
 * without a source.
 */
export function decodeAnnotation(annotation: JsonObject): Citation | undefined {
  const title = textOf(annotation.title) ?? textOf(annotation.filename);
  const titled = title === undefined ? {} : { title };
  const url = textOf(annotation.url);
  if (annotation.type === 'url_citation') {
    return url === undefined ? undefined : { ...readSpan(annotation), ...titled, source: { kind: 'url', url } };
  }
  const fileId = textOf(annotation.file_id);
  if (fileId === undefined) return undefined;
  const at = annotation.type === 'file_citation' ? countOf(annotation.index) : undefined;
  return { ...(at === undefined ? readSpan(annotation) : { end: at }), ...titled, source: { kind: 'document', fileId } };
}

/**
 * Writes a citation as an annotation of a text part of this length. A citation without offsets is about its whole
 * block, which is a part here.
 */
export function encodeAnnotation(citation: Citation, partCharacters: number): JsonObject {
  const { source, title, start, end } = citation;
  if (source.kind === 'url') {
    return { type: 'url_citation', start_index: start ?? 0, end_index: end ?? partCharacters, title: title ?? '', url: source.url };
  }
  const name = `document-${source.index ?? 0}`;
  // The position in the text: the end of the cited passage.
  return { type: 'file_citation', file_id: source.fileId ?? name, filename: title ?? name, index: end ?? partCharacters };
}

export function encodeAnnotations(
  { citations, text }: { readonly citations: readonly Citation[]; readonly text: string },
  notes: TranslationNotes,
): readonly JsonObject[] {
  if (citations.length === 0) return [];
  const characters = countCodePoints(text);
  if (citations.some(({ source }) => source.kind === 'document' && source.locator !== undefined)) {
    notes.adapted({ path: 'output', otherwise: 'turns' }, 'citations of documents name the document and not the place in it');
  }
  return citations.map((citation) => encodeAnnotation(citation, characters));
}
