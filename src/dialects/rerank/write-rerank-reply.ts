import type { RerankReply, RerankRequest } from '../../inference/rerank.ts';
import type { Usage } from '../../inference/usage.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import type { RerankForm } from './rerank-form.ts';

/**
 * Writes a ranking in the client's form.
 * @param usage the usage that is charged
 */
export function writeRerankReply(
  { results }: RerankReply,
  request: RerankRequest,
  form: RerankForm,
  { id, usage }: { readonly id: string; readonly usage: Usage },
): JsonObject {
  const list = results.map(({ index, score }): JsonObject => {
    const document = request.returnsDocuments ? writeDocument(request, index, form) : undefined;
    return { index, relevance_score: score, ...(document !== undefined && { document }) };
  });
  const { inputTokens, searchUnits } = usage;
  const tokens: JsonObject = inputTokens === undefined ? {} : { total_tokens: inputTokens };
  switch (form) {
    case 'voyage':
      return { object: 'list', data: list, model: request.requestedModel, usage: tokens };
    case 'jina': {
      // Clients of Cohere share the path, so their members are written too.
      const usageOfBoth = inputTokens === undefined ? {} : { usage: { ...tokens, prompt_tokens: inputTokens } };
      return { id, model: request.requestedModel, results: list, ...usageOfBoth, meta: writeMeta('1', inputTokens, searchUnits) };
    }
    case 'cohere-v1':
      return { id, results: list, meta: writeMeta('1', inputTokens, searchUnits) };
    case 'cohere-v2':
      return { id, results: list, meta: writeMeta('2', inputTokens, searchUnits) };
  }
}

function writeMeta(version: string, inputTokens: number | undefined, searchUnits: number | undefined): JsonObject {
  const billed: JsonObject =
    searchUnits === undefined ? (inputTokens === undefined ? {} : { input_tokens: inputTokens }) : { search_units: searchUnits };
  return {
    api_version: { version },
    billed_units: billed,
    ...(inputTokens !== undefined && { tokens: { input_tokens: inputTokens } }),
  };
}

/** Writes a document. Voyage's interface returns texts, the others objects, exactly as the client wrote them. */
function writeDocument({ documents }: RerankRequest, index: number, form: RerankForm): JsonValue | undefined {
  const document = documents[index];
  if (document === undefined) return undefined;
  if (form === 'voyage') return document.text;
  return typeof document.original === 'string' ? { text: document.original } : document.original;
}
