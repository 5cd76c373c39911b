import type { Citation } from '../../../inference/citation.ts';
import { countOf, filledText, itemsOf, membersOf, objectOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createTextOffsets, type TextOffsets } from './text-offsets.ts';

/** A text of the reply: the pieces of its parts, joined. */
export type ReplyText = { readonly block: number; text: string };

/** The position in a text at which a part of the reply begins. */
export type PartStart = { readonly text: ReplyText; readonly characters: number };

/** The sources of a reply. For each member, the last value applies. */
export type Grounding = {
  readonly metadata: JsonObject;
  readonly recitations: readonly JsonObject[];
  /** The pages that the vendor read because the conversation named them, with their status. */
  readonly pages: readonly JsonObject[];
};

export const noGrounding: Grounding = { metadata: {}, recitations: [], pages: [] };

const isEmpty = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0);

/** Adds the grounding of a chunk: early chunks have an empty one, and the full one may come twice or in pieces. */
export function addGrounding(grounding: Grounding, candidate: JsonObject): Grounding {
  const metadata = objectOf(candidate.groundingMetadata);
  const recitations = objectsOf(objectOf(candidate.citationMetadata)?.citationSources);
  const pages = listPages(candidate);
  if (metadata === undefined && recitations.length === 0 && pages.length === 0) return grounding;
  const members = Object.entries(metadata ?? {}).filter(([, value]) => !isEmpty(value));
  return {
    metadata: members.length === 0 ? grounding.metadata : { ...grounding.metadata, ...Object.fromEntries(members) },
    recitations: recitations.length === 0 ? grounding.recitations : recitations,
    pages: pages.length === 0 ? grounding.pages : pages,
  };
}

/** Reads the pages from the newer member, or from the older one, which has no status. */
function listPages(candidate: JsonObject): readonly JsonObject[] {
  const pages = objectsOf(objectOf(candidate.urlContextMetadata)?.urlMetadata);
  return pages.length > 0 ? pages : objectsOf(objectOf(candidate.urlRetrievalMetadata)?.urlRetrievalContexts);
}

/** Reads an index or offset: proto leaves a zero out, and writes large ones as text. */
export const indexOf = (value: unknown): number => countOf(typeof value === 'string' ? Number(value) : value) ?? 0;

export type PlacedCitation = { readonly text: ReplyText; readonly citation: Citation };

type Span = { readonly text: ReplyText; readonly start: number; readonly end: number };

type Source = Pick<Citation, 'source' | 'title' | 'citedText'>;

function readSource(chunk: JsonObject): Source | undefined {
  const kind = objectOf(chunk.web) ?? objectOf(chunk.maps) ?? objectOf(chunk.image);
  const retrieved = objectOf(chunk.retrievedContext);
  const holder = kind ?? retrieved;
  if (holder === undefined) return undefined;
  const title = filledText(holder.title);
  const url = filledText(holder.uri) ?? filledText(holder.sourceUri);
  const citedText = retrieved === undefined ? undefined : filledText(retrieved.text);
  const about = { ...(title === undefined ? {} : { title }), ...(citedText === undefined ? {} : { citedText }) };
  if (url !== undefined) return { ...about, source: { kind: 'url', url } };
  return { ...about, source: { kind: 'document', ...(title === undefined ? {} : { fileId: title }) } };
}

/**
 * Reads the citations of a reply. The vendor counts UTF-8 bytes: in a whole reply within the text of a part, in a
 * stream within all text so far. The text of the segment decides which. A segment that is not found cites its source
 * without a span, in the last text.
 */
export function decodeCitations(
  grounding: Grounding,
  texts: readonly ReplyText[],
  places: ReadonlyMap<number, PartStart>,
): readonly PlacedCitation[] {
  const last = texts.at(-1);
  if (last === undefined) return [];
  const finder = createSpanFinder(texts, places);
  const sources = itemsOf(grounding.metadata.groundingChunks).map((chunk) => readSource(membersOf(chunk)));
  const placed: PlacedCitation[] = [];
  const add = (span: Span | undefined, source: Source): void => {
    const place = span === undefined ? {} : { start: span.start, end: span.end };
    placed.push({ text: span?.text ?? last, citation: { ...place, ...source } });
  };
  for (const support of objectsOf(grounding.metadata.groundingSupports)) {
    const span = finder(membersOf(support.segment));
    for (const index of itemsOf(support.groundingChunkIndices)) {
      const source = sources[indexOf(index)];
      if (source !== undefined) add(span, source);
    }
  }
  for (const recitation of grounding.recitations) {
    const url = filledText(recitation.uri);
    if (url !== undefined) add(finder(recitation), { source: { kind: 'url', url } });
  }
  return placed;
}

function createSpanFinder(texts: readonly ReplyText[], places: ReadonlyMap<number, PartStart>): (segment: JsonObject) => Span | undefined {
  const offsets = new Map<ReplyText, TextOffsets>();
  const offsetsOf = (text: ReplyText): TextOffsets => {
    const converter = offsets.get(text) ?? createTextOffsets(text.text);
    offsets.set(text, converter);
    return converter;
  };

  const cut = (text: ReplyText, startByte: number, endByte: number, words: string | undefined): Span | undefined => {
    const at = offsetsOf(text);
    if (startByte > at.bytes || endByte > at.bytes) return undefined;
    const start = at.toCodePoint(startByte);
    const end = at.toCodePoint(endByte);
    return words === undefined || at.slice(start, end) === words ? { text, start, end } : undefined;
  };

  const inAllText = (startByte: number, endByte: number, words: string | undefined): Span | undefined => {
    let before = 0;
    for (const text of texts) {
      const { bytes } = offsetsOf(text);
      if (startByte < before + bytes) return cut(text, startByte - before, endByte - before, words);
      before += bytes;
    }
    return undefined;
  };

  const inPart = (part: number, startByte: number, endByte: number, words: string | undefined): Span | undefined => {
    const place = places.get(part);
    if (place === undefined) return undefined;
    const before = Buffer.byteLength(place.text.text.slice(0, place.characters));
    return cut(place.text, before + startByte, before + endByte, words);
  };

  const byWords = (words: string | undefined): Span | undefined => {
    const text = words === undefined ? undefined : texts.findLast((candidate) => candidate.text.includes(words));
    if (text === undefined || words === undefined) return undefined;
    const before = Buffer.byteLength(text.text.slice(0, text.text.indexOf(words)));
    return cut(text, before, before + Buffer.byteLength(words), words);
  };

  return (segment) => {
    const part = indexOf(segment.partIndex);
    const start = indexOf(segment.startIndex);
    const end = indexOf(segment.endIndex);
    const words = filledText(segment.text);
    if (end <= start) return byWords(words);
    const first = part > 0 ? inPart(part, start, end, words) : inAllText(start, end, words);
    return first ?? (part > 0 ? inAllText(start, end, words) : inPart(part, start, end, words)) ?? byWords(words);
  };
}
