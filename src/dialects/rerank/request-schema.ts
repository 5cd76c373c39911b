import { Type } from 'typebox';
import { orNull } from '../schema-builders.ts';

const documentsMax = 10_000;
const modelCharactersMax = 256;

const count = Type.Integer({ minimum: 1 });
const document = Type.Union([Type.String(), Type.Object({})]);

/** The union of all forms. Fields of one vendor are accepted in every form, because programs mix them. */
export const rerankSchema = Type.Object({
  model: Type.String({ minLength: 1, maxLength: modelCharactersMax }),
  query: Type.String({ minLength: 1 }),
  documents: Type.Array(document, { minItems: 1, maxItems: documentsMax }),
  top_n: orNull(count),
  top_k: orNull(count),
  return_documents: orNull(Type.Boolean()),
  max_tokens_per_doc: orNull(count),
  max_chunks_per_doc: orNull(count),
  rank_fields: orNull(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 64 })),
  truncation: orNull(Type.Boolean()),
});
