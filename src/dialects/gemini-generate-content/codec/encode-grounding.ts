import type { Citation } from '../../../inference/citation.ts';
import type { ServerToolPart, ToolFinding } from '../../../inference/inference-request.ts';
import { membersOf, numberOf, objectOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { contractScoreName, vendorScoreName } from '../score-names.ts';
import { encodeSearchEntry } from './encode-search-entry.ts';
import { encodeUrlContext } from './encode-url-context.ts';
import { createTextOffsets } from './text-offsets.ts';

/**
 * A text with its sources. In a stream, offsets count from the beginning of all text, in a whole reply from that of the
 * part.
 */
export type CitedText = {
  readonly text: string;
  readonly citations: readonly Citation[];
  readonly bytesBefore: number;
  readonly partIndex: number;
};

export type GroundingSources = {
  readonly texts: readonly CitedText[];
  /** The activity of built-in tools other than code. */
  readonly tools: readonly ServerToolPart[];
};

/** The sources so far, each once, with their scores if known. */
type Chunks = {
  readonly list: JsonObject[];
  readonly scores: (number | undefined)[];
  readonly byKey: Map<string, number>;
  readonly findings: Findings;
};

/** Findings by their address or file; of several, the one with the best score. */
type Findings = ReadonlyMap<string, ToolFinding>;

const clampScore = (score: number): number => Math.min(Math.max(score, 0), 1);

const keyOf = ({ url, fileId }: ToolFinding): string | undefined => (fileId === undefined ? url : `file ${fileId}`);

function collectFindings(tools: readonly ServerToolPart[]): Findings {
  const findings = new Map<string, ToolFinding>();
  for (const finding of tools.flatMap(({ results = [] }) => results)) {
    const key = keyOf(finding);
    const existing = key === undefined ? undefined : findings.get(key);
    if (key !== undefined && (existing === undefined || (finding.score ?? -1) > (existing.score ?? -1))) findings.set(key, finding);
  }
  return findings;
}

/** Returns the index of a source among the chunks. A source is listed only once. */
function addChunk({ list, scores, byKey }: Chunks, chunk: JsonObject, score: number | undefined): number {
  const key = JSON.stringify(chunk);
  const existing = byKey.get(key);
  if (existing !== undefined) return existing;
  byKey.set(key, list.length);
  scores.push(score);
  return list.push(chunk) - 1;
}

/** The vendor names a page by its domain. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname || undefined : undefined;
}

function encodePage(url: string, title: string | undefined): JsonObject {
  const domain = hostOf(url);
  return { web: { uri: url, title: title ?? domain ?? url, ...(domain === undefined ? {} : { domain }) } };
}

function encodePassage(title: string, text: string, storeId: string | undefined): JsonObject {
  const store = storeId === undefined ? {} : { fileSearchStore: storeId };
  return { retrievedContext: { title, ...(text === '' ? {} : { text }), ...store } };
}

function citeSource({ source, title, citedText }: Citation, chunks: Chunks): number {
  if (source.kind === 'url') return addChunk(chunks, encodePage(source.url, title), chunks.findings.get(source.url)?.score);
  const finding = source.fileId === undefined ? undefined : chunks.findings.get(`file ${source.fileId}`);
  const name = title ?? finding?.title ?? source.fileId ?? `document-${source.index ?? 0}`;
  const text = [citedText ?? finding?.text, source.locator].filter((words) => words !== undefined).join(' - ');
  return addChunk(chunks, encodePassage(name, text, finding?.storeId), finding?.score);
}

/** Offsets of zero are left out, as in proto. */
const offset = (name: string, value: number): JsonObject => (value === 0 ? {} : { [name]: value });

/** Writes one support for each span, with all sources that cite it, in their order. */
function encodeSupports({ text, citations, bytesBefore, partIndex }: CitedText, chunks: Chunks): readonly JsonObject[] {
  if (citations.length === 0) return [];
  const offsets = createTextOffsets(text);
  const spans = new Map<string, { readonly segment: JsonObject; readonly indices: Set<number> }>();
  for (const citation of citations) {
    const start = offsets.toByte(citation.start ?? 0);
    // Without offsets, the whole text is the cited span.
    const end = citation.end === undefined ? offsets.bytes : Math.max(start, offsets.toByte(citation.end));
    const index = citeSource(citation, chunks);
    const key = `${start}-${end}`;
    const existing = spans.get(key);
    if (existing !== undefined) {
      existing.indices.add(index);
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
  return [...spans.values()].map(({ segment, indices }) => encodeSupport(segment, [...indices], chunks));
}

/** Scores are parallel to the indices, so they are written only if those of all sources are knownScores. */
function encodeSupport(segment: JsonObject, indices: readonly number[], { scores }: Chunks): JsonObject {
  const knownScores = indices.map((index) => scores[index]).filter((score) => score !== undefined);
  const confidence = knownScores.length < indices.length ? {} : { confidenceScores: knownScores.map(clampScore) };
  return { segment, groundingChunkIndices: indices, ...confidence };
}

/** Appends findings that were not cited. */
function addFindings(tools: readonly ServerToolPart[], chunks: Chunks): void {
  const cited = new Set(chunks.list.map((chunk) => membersOf(chunk.web).uri));
  for (const { tool, results = [] } of tools) {
    for (const { url, title, text = '', storeId, fileId, score } of results) {
      if (tool === 'web-search' && url !== undefined && !cited.has(url)) addChunk(chunks, encodePage(url, title), score);
      const name = title ?? fileId;
      if (tool === 'file-search' && name !== undefined) addChunk(chunks, encodePassage(name, text, storeId), score);
    }
  }
}

/** Returns members about searches that only this dialect's own vendor writes. */
function ownGrounding(searches: readonly ServerToolPart[]): JsonObject {
  const members = searches.flatMap(({ wire }) => wire.flatMap((item) => Object.entries(membersOf(item.groundingMetadata))));
  return Object.fromEntries(members);
}

/**
 * Writes the score of dynamic retrieval, under the vendor's name and the contract's: the vendor's value, or the score
 * of the best page.
 */
function encodeRetrieval(own: JsonObject, searches: readonly ServerToolPart[]): JsonObject {
  const retrieval = membersOf(own.retrievalMetadata);
  const scores = searches.flatMap(({ results = [] }) => results.flatMap(({ score }) => score ?? []));
  const score =
    numberOf(retrieval[vendorScoreName]) ??
    numberOf(retrieval[contractScoreName]) ??
    (scores.length === 0 ? undefined : Math.max(...scores));
  if (score === undefined) return own.retrievalMetadata === undefined ? {} : { retrievalMetadata: retrieval };
  return { retrievalMetadata: { ...retrieval, [contractScoreName]: clampScore(score), [vendorScoreName]: clampScore(score) } };
}

function encodeMetadata({ texts, tools }: GroundingSources): JsonObject | undefined {
  const chunks: Chunks = { list: [], scores: [], byKey: new Map(), findings: collectFindings(tools) };
  const supports = texts.flatMap((text) => encodeSupports(text, chunks));
  addFindings(tools, chunks);
  const searches = tools.filter(({ tool }) => tool === 'web-search');
  const queries = [...new Set(searches.flatMap((search) => search.input))];
  const own = ownGrounding(searches);
  if (queries.length === 0 && chunks.list.length === 0 && Object.keys(own).length === 0) return undefined;
  const searchEntryPoint = objectOf(own.searchEntryPoint) ?? encodeSearchEntry(searches);
  return {
    ...own,
    ...(queries.length === 0 ? {} : { webSearchQueries: queries }),
    ...(chunks.list.length === 0 ? {} : { groundingChunks: chunks.list }),
    ...(supports.length === 0 ? {} : { groundingSupports: supports }),
    ...(searchEntryPoint === undefined ? {} : { searchEntryPoint }),
    ...encodeRetrieval(own, searches),
  };
}

/** Writes the members of a candidate about its sources. None if it has no sources. */
export function encodeGrounding(sources: GroundingSources): JsonObject {
  const metadata = encodeMetadata(sources);
  return {
    ...(metadata === undefined ? {} : { groundingMetadata: metadata }),
    ...encodeUrlContext(sources.tools.filter(({ tool }) => tool === 'url-context')),
  };
}
