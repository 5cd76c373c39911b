import type { Citation } from '../../../inference/citation.ts';
import { filledText, numberOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

/** Reads `citations` of a text block, which is the cited span. Invalid citations are left out. */
export function decodeCitations(value: JsonValue | undefined): readonly Citation[] {
  return Array.isArray(value) ? value.flatMap((citation) => decodeCitation(citation) ?? []) : [];
}

/** Reads a citation of any of the vendor's kinds. Undefined for anything else. */
export function decodeCitation(value: unknown): Citation | undefined {
  if (!isJsonObject(value)) return undefined;
  const source = decodeSource(value);
  if (source === undefined) return undefined;
  const citedText = filledText(value.cited_text);
  const title = filledText(value.title) ?? filledText(value.document_title);
  return { ...(citedText === undefined ? {} : { citedText }), ...(title === undefined ? {} : { title }), source };
}

function decodeSource(value: JsonObject): Citation['source'] | undefined {
  const url = filledText(value.url) ?? filledText(value.source);
  if (value.type === 'web_search_result_location') return url === undefined ? undefined : { kind: 'url', url };
  // The caller's search results have free text as their source; only an address is used.
  if (value.type === 'search_result_location' && url !== undefined && /^https?:/i.test(url)) return { kind: 'url', url };
  const index = numberOf(value.document_index) ?? numberOf(value.search_result_index);
  const fileId = filledText(value.file_id);
  if (index === undefined && fileId === undefined) return undefined;
  const locator = decodeLocator(value);
  return {
    kind: 'document',
    ...(index === undefined ? {} : { index }),
    ...(fileId === undefined ? {} : { fileId }),
    ...(locator === undefined ? {} : { locator }),
  };
}

/** Writes the position in a document as text that `encodeLocation` can read. The vendor's ends are exclusive. */
function decodeLocator(value: JsonObject): string | undefined {
  const page = numberOf(value.start_page_number);
  if (page !== undefined) {
    const last = (numberOf(value.end_page_number) ?? page + 1) - 1;
    return last > page ? `pages ${page}-${last}` : `page ${page}`;
  }
  const character = numberOf(value.start_char_index);
  if (character !== undefined) return `characters ${character}-${numberOf(value.end_char_index) ?? character}`;
  const block = numberOf(value.start_block_index);
  return block === undefined ? undefined : `blocks ${block}-${numberOf(value.end_block_index) ?? block + 1}`;
}

/**
 * Writes a citation. The vendor's own index of a search result is not known here, so it is empty and never sent
 * upstream.
 */
export function encodeCitation({ citedText = '', title, source }: Citation): JsonObject {
  if (source.kind === 'url') {
    // The vendor allows a title of null, but @ai-sdk/anthropic 3.0.138 then rejects the whole reply.
    return { type: 'web_search_result_location', cited_text: citedText, encrypted_index: '', title: title ?? source.url, url: source.url };
  }
  return {
    cited_text: citedText,
    document_index: source.index ?? 0,
    document_title: title ?? null,
    file_id: source.fileId ?? null,
    ...encodeLocation(source.locator ?? ''),
  };
}

function encodeLocation(locator: string): JsonObject {
  const [, unit = '', from = '0', to = from] = /^(pages?|characters|blocks) (\d+)(?:-(\d+))?$/.exec(locator) ?? [];
  const [start, end] = [Number(from), Number(to)];
  if (unit.startsWith('page')) return { type: 'page_location', start_page_number: start, end_page_number: end + 1 };
  if (unit === 'blocks') return { type: 'content_block_location', start_block_index: start, end_block_index: end };
  return { type: 'char_location', start_char_index: start, end_char_index: end };
}
