import type { RerankRequest } from '../../inference/rerank.ts';
import type { FieldNotes } from '../../inference/translation-notes.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';

/** Interfaces of upstreams. vLLM and its like speak Jina's form and know fewer fields. */
export type RerankInterface = 'cohere' | 'jina' | 'voyage' | 'vllm';

const paths: Readonly<Record<RerankInterface, string>> = {
  cohere: '/v2/rerank',
  jina: '/v1/rerank',
  voyage: '/v1/rerank',
  vllm: '/v1/rerank',
};

/** Addresses are written for chats: with the version of that interface at their end, and at Cohere below the one for clients of OpenAI. */
const chatPaths = /(?:\/compatibility)?\/v\d+$/;

/** Where an upstream ranks, by the path of its base address. */
export function rerankPath(basePath: string, upstream: RerankInterface): string {
  return basePath.replace(chatPaths, '') + paths[upstream];
}

/** Documents that an interface takes at most, by its vendor's documentation. Servers of one's own have no limit of their own. */
const documentsMax: Readonly<Partial<Record<RerankInterface, number>>> = { cohere: 10_000, voyage: 1000 };

/**
 * Writes a request for an upstream. Documents go as texts, and none come back: the gateway has them.
 * @returns the path below the origin, and the body
 * @throws GatewayError untranslatable_field
 */
export function writeRerankRequest(
  request: RerankRequest,
  upstream: RerankInterface,
  upstreamModel: string,
  notes: FieldNotes,
): { readonly path: string; readonly json: JsonObject } {
  const most = documentsMax[upstream] ?? Infinity;
  if (request.documents.length > most)
    notes.refuse('documents', `the model takes at most ${most} documents a call, and there are ${request.documents.length}`);
  const { resultsMax, tokensPerDocumentMax, truncates } = request;
  const count = resultsMax === undefined ? undefined : Math.min(resultsMax, request.documents.length);
  if (tokensPerDocumentMax !== undefined && upstream !== 'cohere')
    notes.dropped('max_tokens_per_doc', 'the model cuts documents at its own length');
  if (truncates === false && upstream !== 'voyage')
    notes.dropped('truncation', 'the model cuts what is too long, or refuses it, by itself');
  const json: JsonObject = {
    model: upstreamModel,
    query: request.query,
    documents: request.documents.map(({ text }) => text),
    ...(count !== undefined && { [upstream === 'voyage' ? 'top_k' : 'top_n']: count }),
    ...(tokensPerDocumentMax !== undefined && upstream === 'cohere' && { max_tokens_per_doc: tokensPerDocumentMax }),
    ...(truncates !== undefined && upstream === 'voyage' && { truncation: truncates }),
    ...((upstream === 'jina' || upstream === 'voyage') && { return_documents: false }),
  };
  return { path: paths[upstream], json };
}
