import type { ServerToolPart } from '../../../inference/inference-request.ts';
import { objectsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

const success = 'URL_RETRIEVAL_STATUS_SUCCESS';
const failure = 'URL_RETRIEVAL_STATUS_ERROR';

/** Each address once, with what became of it. Addresses that were asked for and of which nothing was heard could not be read. */
function listPages({ input, results = [], failed, wire }: ServerToolPart): readonly JsonObject[] {
  const own = wire.flatMap((item) => objectsOf(item.urlMetadata));
  if (own.length > 0) return own;
  const pages = new Map<string, boolean>();
  for (const { url, unreadable } of results) if (url !== undefined) pages.set(url, unreadable !== true);
  // A page may have been answered from another address than the one that was asked for.
  if (failed === true || pages.size === 0) for (const url of input) if (!pages.has(url)) pages.set(url, false);
  return [...pages].map(([retrievedUrl, isRead]) => ({ retrievedUrl, urlRetrievalStatus: isRead ? success : failure }));
}

/** Writes which pages were read, in the newer member and the older one, which only names those that were. Nothing where none was asked for. */
export function encodeUrlContext(parts: readonly ServerToolPart[]): JsonObject {
  const pages = parts.flatMap(listPages);
  if (pages.length === 0) return {};
  const read = pages.filter(({ urlRetrievalStatus }) => urlRetrievalStatus === success);
  return {
    urlContextMetadata: { urlMetadata: pages },
    ...(read.length === 0 ? {} : { urlRetrievalMetadata: { urlRetrievalContexts: read.map(({ retrievedUrl }) => ({ retrievedUrl })) } }),
  };
}
