import type { RerankRequest } from '../../inference/rerank.ts';
import type { FieldNotes } from '../../inference/translation-notes.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';

/** Interfaces of upstreams. vLLM and similar servers speak Jina's form with fewer fields. */
export type RerankInterface = 'cohere' | 'jina' | 'voyage' | 'vllm';

const paths: Readonly<Record<RerankInterface, string>> = {
  cohere: '/v2/rerank',
  jina: '/v1/rerank',
  voyage: '/v1/rerank',
  vllm: '/v1/rerank',
};

/**
 * Base addresses are configured for chats: they end in that interface's version, and at Cohere in the path for clients
 * of OpenAI.
 */
const chatPaths = /(?:\/compatibility)?\/v\d+$/;

/** Finds the path for rankings from the path of an upstream's base address. */
export function rerankPath(basePath: string, upstream: RerankInterface): string {
  return basePath.replace(chatPaths, '') + paths[upstream];
}

/** The maximum of documents, from the documentation of each vendor. Self-hosted servers have none. */
const documentsMax: Readonly<Partial<Record<RerankInterface, number>>> = { cohere: 10_000, voyage: 1000 };

/**
 * Writes a request for an upstream. Documents are sent as texts and are not requested back, because the gateway has
 * them.
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
    notes.refuse('documents', `the model accepts at most ${most} documents per call; got ${request.documents.length}`);
  const { resultsMax, tokensPerDocumentMax, truncates } = request;
  const count = resultsMax === undefined ? undefined : Math.min(resultsMax, request.documents.length);
  if (tokensPerDocumentMax !== undefined && upstream !== 'cohere')
    notes.dropped('max_tokens_per_doc', 'the model truncates documents at a length of its own');
  if (truncates === false && upstream !== 'voyage')
    notes.dropped('truncation', 'the model decides itself whether it truncates or refuses documents that are too long');
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
