import type { JsonObject } from '../../platform/json/json-value.ts';

/** Whose spelling a client uses: it decides how replies and errors look. */
export type RerankForm = 'cohere-v1' | 'cohere-v2' | 'jina' | 'voyage';

const voyageFields = ['top_k', 'truncation'];
const cohereFields = ['rank_fields', 'max_chunks_per_doc'];

/** The form that a path alone tells, for errors before the body is read. `/v1/rerank` and `/rerank` are the paths of three vendors. */
export const rerankFormOfPath = (path: string): RerankForm => (path.startsWith('/v2/') ? 'cohere-v2' : 'jina');

/** The form of a request: by its path, and where that is shared by the fields that one vendor alone has. */
export function chooseRerankForm(path: string, body: JsonObject): RerankForm {
  const form = rerankFormOfPath(path);
  if (form === 'cohere-v2') return form;
  const has = (names: readonly string[]): boolean => names.some((name) => Object.hasOwn(body, name));
  if (has(cohereFields)) return 'cohere-v1';
  return has(voyageFields) && !Object.hasOwn(body, 'top_n') ? 'voyage' : form;
}
