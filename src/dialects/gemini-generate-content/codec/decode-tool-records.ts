import type { ServerToolPart, ToolFinding } from '../../../inference/inference-request.ts';
import { filledText, itemsOf, membersOf, numberOf, objectOf, objectsOf, textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { indexOf, type Grounding } from './decode-grounding.ts';

/** Members about the vendor's searches that only its own clients understand. */
const ownMembers = ['searchEntryPoint', 'retrievalMetadata', 'imageSearchQueries', 'googleMapsWidgetContextToken'];

/** Writes the records of the vendor's tools other than code: searches, searched files, read pages. */
export function decodeToolRecords(grounding: Grounding, newId: (prefix: string) => string): readonly ServerToolPart[] {
  const scores = readScores(grounding.metadata);
  return [decodeSearch(grounding, scores, newId), decodeFiles(grounding, scores, newId), decodePages(grounding, newId)].filter(
    (part) => part !== undefined,
  );
}

/** Reads the vendor's confidence in each source: the best of all places that cite it. */
function readScores({ groundingSupports }: JsonObject): ReadonlyMap<number, number> {
  const scores = new Map<number, number>();
  for (const { groundingChunkIndices, confidenceScores } of objectsOf(groundingSupports)) {
    const values = itemsOf(confidenceScores);
    for (const [at, index] of itemsOf(groundingChunkIndices).entries()) {
      const score = numberOf(values[at]);
      if (score === undefined || score < 0 || score > 1) continue;
      scores.set(indexOf(index), Math.max(score, scores.get(indexOf(index)) ?? 0));
    }
  }
  return scores;
}

type Scores = ReadonlyMap<number, number>;

const scoreAt = (scores: Scores, index: number): Pick<ToolFinding, 'score'> => {
  const score = scores.get(index);
  return score === undefined ? {} : { score };
};

function decodeSearch({ metadata }: Grounding, scores: Scores, newId: (prefix: string) => string): ServerToolPart | undefined {
  const queries = textsOf(metadata.webSearchQueries);
  if (queries.length === 0) return undefined;
  const results = itemsOf(metadata.groundingChunks).flatMap((chunk, index): readonly ToolFinding[] => {
    const web = objectOf(membersOf(chunk).web);
    const url = filledText(web?.uri);
    const title = filledText(web?.title);
    return url === undefined ? [] : [{ url, ...(title === undefined ? {} : { title }), ...scoreAt(scores, index) }];
  });
  const own = Object.fromEntries(Object.entries(metadata).filter(([name]) => ownMembers.includes(name)));
  const wire = Object.keys(own).length === 0 ? [] : [{ groundingMetadata: own }];
  return { kind: 'server-tool', tool: 'web-search', id: newId('search'), input: [...new Set(queries)], results, wire };
}

function decodeFiles({ metadata }: Grounding, scores: Scores, newId: (prefix: string) => string): ServerToolPart | undefined {
  const results = itemsOf(metadata.groundingChunks).flatMap((chunk, index): readonly ToolFinding[] => {
    const passage = objectOf(membersOf(chunk).retrievedContext);
    const title = filledText(passage?.title);
    const text = filledText(passage?.text);
    const storeId = filledText(passage?.fileSearchStore);
    const values = {
      ...(title === undefined ? {} : { title, fileId: title }),
      ...(text === undefined ? {} : { text }),
      ...(storeId === undefined ? {} : { storeId }),
    };
    return Object.keys(values).length === 0 ? [] : [{ ...values, ...scoreAt(scores, index) }];
  });
  if (results.length === 0) return undefined;
  return { kind: 'server-tool', tool: 'file-search', id: newId('files'), input: textsOf(metadata.retrievalQueries), results, wire: [] };
}

/** Whether a page could not be read: every status except success. A missing status means nothing. */
function isUnreadable(status: unknown): boolean {
  return typeof status === 'string' && status !== 'URL_RETRIEVAL_STATUS_SUCCESS' && status !== 'URL_RETRIEVAL_STATUS_UNSPECIFIED';
}

function decodePages({ pages }: Grounding, newId: (prefix: string) => string): ServerToolPart | undefined {
  const results = pages.flatMap(({ retrievedUrl, urlRetrievalStatus }): readonly ToolFinding[] => {
    const url = filledText(retrievedUrl);
    return url === undefined ? [] : [{ url, ...(isUnreadable(urlRetrievalStatus) ? { unreadable: true } : {}) }];
  });
  if (results.length === 0) return undefined;
  const input = results.flatMap(({ url }) => url ?? []);
  const failed = results.every(({ unreadable }) => unreadable === true) ? { failed: true, failure: 'unavailable' as const } : {};
  const wire = pages.some(({ urlRetrievalStatus }) => urlRetrievalStatus !== undefined) ? [{ urlMetadata: pages }] : [];
  return { kind: 'server-tool', tool: 'url-context', id: newId('pages'), input, results, ...failed, wire };
}
