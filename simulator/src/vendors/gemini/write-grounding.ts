import type { JsonRecord } from '../../simulated-vendor.ts';
import type { GenerateContentRequest } from './generate-content-schema.ts';

const source = { uri: 'https://simulated.example/grounding-api-redirect/1', title: 'simulated.example' } as const;
const queryCharactersMax = 60;
const supportsMax = 3;
/** The constant confidence of the simulated vendor that a search helps. */
const retrievalScore = 0.85;

/**
 * The members that a search adds to a candidate; undefined without a search tool. A threshold above the score prevents
 * the search.
 */
export function writeGrounding(body: GenerateContentRequest, text: string, query: string, partIndex: number): JsonRecord | undefined {
  const tools = body.tools ?? [];
  const retrieval = tools.find((tool) => tool.googleSearchRetrieval !== undefined)?.googleSearchRetrieval;
  if (!retrieval && !tools.some((tool) => tool.googleSearch !== undefined)) return undefined;
  const scored: JsonRecord = retrieval ? { retrievalMetadata: { googleSearchDynamicRetrievalScore: retrievalScore } } : {};
  const dynamic = retrieval?.dynamicRetrievalConfig;
  if (dynamic?.mode === 'MODE_DYNAMIC' && (dynamic.dynamicThreshold ?? 0) > retrievalScore) return scored;
  return {
    searchEntryPoint: { renderedContent: '<div class="simulated-search">simulated search</div>' },
    groundingChunks: [{ web: source }],
    groundingSupports: writeSupports(text, partIndex),
    webSearchQueries: [Array.from(query).slice(0, queryCharactersMax).join('')],
    ...scored,
  };
}

/** Cites the source for the first sentences. Offsets count UTF-8 bytes, and zeros are omitted, as by the vendor. */
function writeSupports(text: string, partIndex: number): JsonRecord[] {
  const supports: JsonRecord[] = [];
  for (const found of text.matchAll(/[^.!?\s][^.!?]*[.!?]?/gu)) {
    if (supports.length === supportsMax) break;
    const startIndex = Buffer.byteLength(text.slice(0, found.index));
    supports.push({
      segment: {
        ...(partIndex > 0 && { partIndex }),
        ...(startIndex > 0 && { startIndex }),
        endIndex: startIndex + Buffer.byteLength(found[0]),
        text: found[0],
      },
      groundingChunkIndices: [0],
    });
  }
  return supports;
}

/** The pages of the prompt that the URL context tool read; undefined without that tool or without pages. */
export function writeUrlContext(body: GenerateContentRequest, promptText: string): JsonRecord | undefined {
  if (!(body.tools ?? []).some((tool) => tool.urlContext !== undefined)) return undefined;
  const urls = [...new Set(promptText.match(/https?:\/\/[^\s"'<>)\]]+/g) ?? [])].slice(0, 20);
  if (urls.length === 0) return undefined;
  return { urlMetadata: urls.map((retrievedUrl) => ({ retrievedUrl, urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' })) };
}
