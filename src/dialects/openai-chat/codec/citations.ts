import type { Citation } from '../../../inference/citation.ts';
import { countOf, filledText, membersOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';

/**
 * Reads an annotation, nested as the vendor writes it or flat as some services do. Offsets count characters of the
 * whole content. Undefined for kinds without an address.
 */
export function decodeAnnotation(annotation: JsonObject): Citation | undefined {
  if (annotation.type !== 'url_citation') return undefined;
  const fields = isJsonObject(annotation.url_citation) ? annotation.url_citation : annotation;
  const url = filledText(fields.url);
  if (url === undefined) return undefined;
  const start = countOf(fields.start_index);
  const end = countOf(fields.end_index);
  const title = filledText(fields.title);
  const citedText = filledText(fields.content);
  return {
    ...(start === undefined || end === undefined || end <= start ? {} : { start, end }),
    ...(citedText === undefined ? {} : { citedText }),
    ...(title === undefined ? {} : { title }),
    source: { kind: 'url', url },
  };
}

/**
 * Reads an entry of the `citations` and `search_results` of services with their own search: an address, or an object
 * that has one.
 */
export function decodeSource(entry: unknown): Citation | undefined {
  if (typeof entry === 'string') return entry === '' ? undefined : { source: { kind: 'url', url: entry } };
  const { url, title } = membersOf(entry);
  const address = filledText(url);
  const named = filledText(title);
  return address === undefined ? undefined : { ...(named === undefined ? {} : { title: named }), source: { kind: 'url', url: address } };
}

/** The position of a block's text in the content of the message, in characters. */
export type TextSpan = { readonly start: number; readonly end: number };

/**
 * Writes a citation of a block's text as an annotation of the message. A citation without offsets covers the whole
 * block. Undefined for documents, because annotations of this dialect have only addresses.
 */
export function encodeAnnotation({ source, title, start, end }: Citation, span: TextSpan): JsonObject | undefined {
  if (source.kind !== 'url') return undefined;
  const at = {
    start_index: start === undefined ? span.start : span.start + start,
    end_index: end === undefined ? span.end : span.start + end,
  };
  return { type: 'url_citation', url_citation: { ...at, title: title ?? '', url: source.url } };
}
