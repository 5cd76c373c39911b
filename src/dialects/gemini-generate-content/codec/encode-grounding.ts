import type { Citation } from '../../../inference/citation.ts';
import type { ServerToolPart } from '../../../inference/inference-request.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createTextOffsets } from './text-offsets.ts';

/** A text with its sources. In a stream offsets count from the beginning of all text, in a whole reply from that of its part. */
export type CitedText = {
  readonly text: string;
  readonly citations: readonly Citation[];
  readonly bytesBefore: number;
  readonly partIndex: number;
};

export type GroundingSources = { readonly texts: readonly CitedText[]; readonly searches: readonly ServerToolPart[] };

type Chunks = { readonly list: JsonObject[]; readonly byKey: Map<string, number> };

/** The number of a source among the chunks; one that is there already is not listed twice. */
function addChunk({ list, byKey }: Chunks, chunk: JsonObject): number {
  const key = JSON.stringify(chunk);
  const known = byKey.get(key);
  if (known !== undefined) return known;
  byKey.set(key, list.length);
  return list.push(chunk) - 1;
}

function encodeSourceChunk({ source, title, citedText }: Citation): JsonObject {
  if (source.kind === 'url') return { web: { uri: source.url, title: title ?? hostOf(source.url) } };
  const name = title ?? source.fileId ?? `document-${source.index ?? 0}`;
  const text = [citedText, source.locator].filter((words) => words !== undefined).join(' - ');
  return { retrievedContext: { title: name, ...(text === '' ? {} : { text }) } };
}

/** The vendor calls a page by its domain. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : url;
}

/** Offsets of zero are left out, as proto does. */
const offset = (name: string, value: number): JsonObject => (value === 0 ? {} : { [name]: value });

/** One support for each span, with all sources that name it, in the order in which they were said. */
function encodeSupports({ text, citations, bytesBefore, partIndex }: CitedText, chunks: Chunks): readonly JsonObject[] {
  if (citations.length === 0) return [];
  const offsets = createTextOffsets(text);
  const spans = new Map<string, { readonly segment: JsonObject; readonly indices: Set<number> }>();
  for (const citation of citations) {
    const start = offsets.toByte(citation.start ?? 0);
    // Without offsets the whole text is the cited span.
    const end = citation.end === undefined ? offsets.bytes : offsets.toByte(citation.end);
    const index = addChunk(chunks, encodeSourceChunk(citation));
    const key = `${start}-${end}`;
    const known = spans.get(key);
    if (known !== undefined) {
      known.indices.add(index);
      continue;
    }
    const words = offsets.slice(offsets.toCodePoint(start), offsets.toCodePoint(end));
    const segment = {
      ...offset('partIndex', partIndex),
      ...offset('startIndex', bytesBefore + start),
      endIndex: bytesBefore + end,
      text: words,
    };
    spans.set(key, { segment, indices: new Set([index]) });
  }
  return [...spans.values()].map(({ segment, indices }) => ({ segment, groundingChunkIndices: [...indices] }));
}

/** Writes the sources of a reply as `groundingMetadata`; undefined where it has none. The vendor's search widget cannot be made. */
export function encodeGrounding({ texts, searches }: GroundingSources): JsonObject | undefined {
  const chunks: Chunks = { list: [], byKey: new Map() };
  const supports = texts.flatMap((text) => encodeSupports(text, chunks));
  const queries = searches.flatMap((search) => search.input);
  const cited = new Set(chunks.list.map((chunk) => (chunk.web as JsonObject | undefined)?.uri));
  for (const { url, title } of searches.flatMap((search) => search.results ?? [])) {
    if (url !== undefined && !cited.has(url)) addChunk(chunks, { web: { uri: url, title: title ?? hostOf(url) } });
  }
  if (queries.length === 0 && chunks.list.length === 0) return undefined;
  return {
    ...(queries.length === 0 ? {} : { webSearchQueries: queries }),
    ...(chunks.list.length === 0 ? {} : { groundingChunks: chunks.list }),
    ...(supports.length === 0 ? {} : { groundingSupports: supports }),
  };
}
