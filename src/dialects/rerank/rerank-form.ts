import type { JsonObject } from '../../platform/json/json-value.ts';

/** The client's interface, which decides the form of replies and errors. */
export type RerankForm = 'cohere-v1' | 'cohere-v2' | 'jina' | 'voyage';

const voyageFields = ['top_k', 'truncation'];
const cohereFields = ['rank_fields', 'max_chunks_per_doc'];

/**
 * Finds the form from the path alone, for errors before the body is read. Three vendors share the paths `/v1/rerank`
 * and `/rerank`.
 */
export const rerankFormOfPath = (path: string): RerankForm => (path.startsWith('/v2/') ? 'cohere-v2' : 'jina');

/** Finds the form of a request from its path and, if vendors share the path, from fields that only one of them has. */
export function chooseRerankForm(path: string, body: JsonObject): RerankForm {
  const form = rerankFormOfPath(path);
  if (form === 'cohere-v2') return form;
  const has = (names: readonly string[]): boolean => names.some((name) => Object.hasOwn(body, name));
  if (has(cohereFields)) return 'cohere-v1';
  return has(voyageFields) && !Object.hasOwn(body, 'top_n') ? 'voyage' : form;
}
