import type { ServerToolPart } from '../../../inference/inference-request.ts';
import { objectsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

const success = 'URL_RETRIEVAL_STATUS_SUCCESS';
const failure = 'URL_RETRIEVAL_STATUS_ERROR';

/** Lists each address once, with its status. Requested addresses without a result could not be read. */
function listPages({ input, results = [], failed, wire }: ServerToolPart): readonly JsonObject[] {
  const own = wire.flatMap((item) => objectsOf(item.urlMetadata));
  if (own.length > 0) return own;
  const pages = new Map<string, boolean>();
  for (const { url, unreadable } of results) if (url !== undefined) pages.set(url, unreadable !== true);
  // The answer may come from another address than the requested one.
  if (failed === true || pages.size === 0) for (const url of input) if (!pages.has(url)) pages.set(url, false);
  return [...pages].map(([retrievedUrl, isRead]) => ({ retrievedUrl, urlRetrievalStatus: isRead ? success : failure }));
}

/**
 * Writes the pages that were read, in the newer member and in the older one, which only names successes. Nothing if no
 * page was requested.
 */
export function encodeUrlContext(parts: readonly ServerToolPart[]): JsonObject {
  const pages = parts.flatMap(listPages);
  if (pages.length === 0) return {};
  const read = pages.filter(({ urlRetrievalStatus }) => urlRetrievalStatus === success);
  return {
    urlContextMetadata: { urlMetadata: pages },
    ...(read.length === 0 ? {} : { urlRetrievalMetadata: { urlRetrievalContexts: read.map(({ retrievedUrl }) => ({ retrievedUrl })) } }),
  };
}
