import { countTokens } from '../../count-tokens.ts';
import { asText, isRecord } from '../../read-json.ts';
import { deriveId } from '../../seeded-random.ts';
import { type Json, type JsonRecord, type SimulatedReply, type SimulatedRequest, VendorError } from '../../simulated-vendor.ts';

/**
 * The interface of a route. One vendor serves all of them here, under prefixes; without a prefix it is a server like
 * vLLM.
 */
type Flavor = 'cohere-v1' | 'cohere-v2' | 'jina' | 'voyage' | 'vllm';

const routes: Readonly<Record<string, Flavor>> = {
  '/cohere/v1/rerank': 'cohere-v1',
  '/cohere/v2/rerank': 'cohere-v2',
  '/jina/v1/rerank': 'jina',
  '/voyage/v1/rerank': 'voyage',
  '/rerank': 'vllm',
  '/v1/rerank': 'vllm',
  '/v2/rerank': 'vllm',
};

const fields: Readonly<Record<Flavor, readonly string[]>> = {
  'cohere-v1': ['top_n', 'return_documents', 'rank_fields', 'max_chunks_per_doc'],
  'cohere-v2': ['top_n', 'max_tokens_per_doc', 'priority'],
  jina: ['top_n', 'return_documents'],
  voyage: ['top_k', 'return_documents', 'truncation'],
  vllm: ['top_n', 'truncate_prompt_tokens'],
};
const documentsPerUnit = 100;

/**
 * Rankings in four vendors' forms and in that of vLLM; undefined for every other route. The score of a document is its
 * share of the query's words.
 */
export function handleRerank(request: SimulatedRequest): SimulatedReply | undefined {
  const flavor = request.method === 'POST' && Object.hasOwn(routes, request.path) ? routes[request.path] : undefined;
  if (flavor === undefined) return undefined;
  const body = request.body ?? {};
  const known = ['model', 'query', 'documents', ...fields[flavor]];
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  // vLLM ignores unknown members.
  if (unknown !== undefined && flavor !== 'vllm') throw refuse(flavor, `Argument '${unknown}' is not supported by our API`, 422);
  const model = asText(body['model']);
  if (model === '') throw refuse(flavor, "invalid request: 'model' is required", 400);
  if (model.startsWith('missing-')) throw refuse(flavor, `model '${model}' not found`, 404);
  const query = asText(body['query']);
  if (query === '') throw refuse(flavor, 'invalid request: query must be non-empty', 400);
  const documents = readDocuments(body['documents'], flavor);
  const most = (flavor === 'voyage' ? body['top_k'] : body['top_n']) ?? documents.length;
  if (typeof most !== 'number' || !Number.isInteger(most) || most < 1)
    throw refuse(flavor, 'invalid request: the number of results must be positive', 400);
  const results = documents
    .map((text, index) => ({ index, score: scoreOf(query, text) }))
    .toSorted((one, other) => other.score - one.score || one.index - other.index)
    .slice(0, most);
  const tokens = documents.reduce((sum, text) => sum + countTokens(text) + countTokens(query), 0);
  const brings = body['return_documents'] ?? (flavor === 'jina' || flavor === 'vllm');
  const list = results.map(({ index, score }): JsonRecord => {
    const text = documents[index] ?? '';
    return { index, relevance_score: score, ...(brings === true && { document: flavor === 'voyage' ? text : { text } }) };
  });
  const id = deriveId(`${model}/${query}/${documents.length}`);
  const written = write(flavor, { list, tokens, model, id, units: Math.ceil(documents.length / documentsPerUnit) });
  return { type: 'whole', status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(written) };
}

type Ranking = {
  readonly list: JsonRecord[];
  readonly tokens: number;
  readonly model: string;
  readonly id: string;
  readonly units: number;
};

function write(flavor: Flavor, { list, tokens, model, id, units }: Ranking): JsonRecord {
  switch (flavor) {
    case 'cohere-v1':
      return { id, results: list, meta: { api_version: { version: '1' }, billed_units: { search_units: units } } };
    case 'cohere-v2':
      return { id, results: list, meta: { api_version: { version: '2', is_experimental: false }, billed_units: { search_units: units } } };
    case 'jina':
      return { model, object: 'list', usage: { total_tokens: tokens }, results: list };
    case 'voyage':
      return { object: 'list', data: list, model, usage: { total_tokens: tokens } };
    case 'vllm':
      return { id: `rerank-${id}`, model, usage: { total_tokens: tokens }, results: list };
  }
}

function readDocuments(value: Json | undefined, flavor: Flavor): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) throw refuse(flavor, 'invalid request: list of documents must not be empty', 400);
  return value.map((item) => {
    if (typeof item === 'string') return item;
    if (isRecord(item) && typeof item['text'] === 'string' && flavor !== 'voyage' && flavor !== 'cohere-v2') return item['text'];
    throw refuse(flavor, 'invalid type: documents must be a list of strings', 422);
  });
}

/**
 * The share of the query's words that a document has. Words count by their beginnings, and the first of equals is a
 * little better.
 */
function scoreOf(query: string, text: string): number {
  const words = (value: string): string[] => (value.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, 5));
  const wanted = new Set(words(query));
  const present = new Set(words(text));
  const shared = [...wanted].filter((word) => present.has(word)).length;
  return Math.round((0.01 + (0.98 * shared) / Math.max(1, wanted.size)) * 1e6) / 1e6;
}

/** An error in the family's format. */
function refuse(flavor: Flavor, message: string, status: number): VendorError {
  if (flavor.startsWith('cohere')) return new VendorError(status, { message }, message);
  const body = flavor === 'vllm' ? { error: { message, type: 'BadRequestError', param: null, code: status } } : { detail: message };
  return new VendorError(status, body, message);
}
