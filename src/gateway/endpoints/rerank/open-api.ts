import {
  carriers,
  content,
  count,
  object,
  receiptHeaders,
  ref,
  refusals,
  type Schema,
  type Schemas,
  text,
} from '../shared/open-api-parts.ts';

const errors = [400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503, 504];

const document: Schema = { anyOf: [{ type: 'string' }, { type: 'object' }] };
const results: Schema = {
  type: 'array',
  items: object({ index: count('Position of the document in the request.'), relevance_score: { type: 'number' }, document }, [
    'index',
    'relevance_score',
  ]),
};
const meta: Schema = {
  type: 'object',
  properties: {
    api_version: { type: 'object', properties: { version: { type: 'string' } } },
    billed_units: {
      type: 'object',
      properties: { search_units: count('Search units, if they are billed.'), input_tokens: count('Tokens, if they are billed.') },
    },
    tokens: { type: 'object', properties: { input_tokens: count('Input tokens.') } },
  },
};
const usage: Schema = { type: 'object', properties: { total_tokens: count('Input tokens.'), prompt_tokens: count('The same.') } };

/** Schemas of requests and replies. */
export const rerankSchemas: Schemas = {
  RerankRequest: object(
    {
      model: text('The name of the model in the configuration.', { minLength: 1 }),
      query: text('The query by which the documents are ranked.', { minLength: 1 }),
      documents: { type: 'array', minItems: 1, items: document, description: 'Texts, or objects with a `text`.' },
      top_n: count('The maximum of results. Default: all.'),
      top_k: count('The same, in the spelling of Voyage.'),
      return_documents: { type: 'boolean', description: 'Whether results contain their documents.' },
      max_tokens_per_doc: count('Tokens at which documents are truncated (Cohere v2).'),
      rank_fields: { type: 'array', items: { type: 'string' }, description: 'The ranked members of documents (Cohere v1).' },
      truncation: { type: 'boolean', description: 'Whether texts that are too long are truncated (Voyage).' },
    },
    ['model', 'query', 'documents'],
  ),
  Ranking: {
    description: "Best first. In the spelling of the client: Cohere's and Jina's have `results`, Voyage's has `data`.",
    anyOf: [
      object({ id: { type: 'string' }, model: { type: 'string' }, results, usage, meta }, ['id', 'results']),
      object({ object: { const: 'list' }, data: results, model: { type: 'string' }, usage }, ['object', 'data', 'model']),
    ],
  },
  RerankProblem: {
    anyOf: [
      object({ id: { type: 'string' }, message: { type: 'string' } }, ['message']),
      object({ detail: { type: 'string' } }, ['detail']),
    ],
  },
};

/** Describes a route for OpenAPI. */
export function rerankOperation(path: string): object {
  return {
    summary: path.startsWith('/v2/') ? 'Rank documents (Cohere v2)' : 'Rank documents (Cohere v1, Jina, Voyage)',
    security: carriers,
    requestBody: { required: true, content: content('application/json', ref('RerankRequest')) },
    responses: {
      200: { description: 'The ranking.', headers: receiptHeaders, content: content('application/json', ref('Ranking')) },
      ...refusals(errors, 'RerankProblem'),
    },
  };
}
