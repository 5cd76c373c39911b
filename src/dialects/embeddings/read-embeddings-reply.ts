import { countOf, itemsOf, membersOf, objectOf, objectsOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { EmbeddingForm } from './write-embeddings.ts';

/** The vectors of a reply, and the tokens that it reports. */
type Read = { readonly vectors: readonly (JsonValue | undefined)[]; readonly tokens: number | undefined };

const readers: Readonly<Record<Exclude<EmbeddingForm, 'openai'>, (reply: JsonObject) => Read>> = {
  'gemini-batch': (reply) => ({
    vectors: objectsOf(reply['embeddings']).map(({ values }) => values),
    tokens: countOf(membersOf(reply['usageMetadata'])['promptTokenCount']),
  }),
  'vertex-predict': (reply) => {
    const made = objectsOf(reply['predictions']).map(({ embeddings }) => membersOf(embeddings));
    const counts = made.map(({ statistics }) => countOf(membersOf(statistics)['token_count']));
    return { vectors: made.map(({ values }) => values), tokens: sumOf(counts) };
  },
  'vertex-multimodal': (reply) => ({
    vectors: objectsOf(reply['predictions']).map(({ textEmbedding }) => textEmbedding),
    tokens: undefined,
  }),
  'vertex-content': (reply) => {
    const embedding = objectOf(reply['embedding']);
    return {
      vectors: embedding === undefined ? [] : [embedding['values']],
      tokens: countOf(membersOf(reply['usageMetadata'])['promptTokenCount']),
    };
  },
};

/** The sum of counts; undefined if one is missing, because a part of the usage must not look like all of it. */
function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  if (counts.length === 0) return undefined;
  return counts.reduce<number | undefined>((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count), 0);
}

/**
 * Reads a reply into OpenAI's form. Replies of that form, errors and unknown bodies are returned as they are.
 * @param texts the number of texts of each part of the request: a reply with fewer vectors is not read. Several parts
 * have their replies in `replies`
 */
export function readEmbeddingsReply(reply: unknown, form: EmbeddingForm, texts: readonly number[]): unknown {
  if (form === 'openai' || !isJsonObject(reply) || 'error' in reply) return reply;
  const parts = (texts.length === 1 ? [reply] : objectsOf(reply['replies'])).map(readers[form]);
  const isWhole = ({ vectors }: Read, part: number): boolean =>
    vectors.length === texts[part] && vectors.every((vector) => itemsOf(vector).length > 0);
  if (parts.length !== texts.length || !parts.every(isWhole)) return reply;
  const tokens = sumOf(parts.map((part) => part.tokens));
  return {
    object: 'list',
    data: parts.flatMap(({ vectors }) => vectors).map((embedding, index) => ({ object: 'embedding', index, embedding })),
    ...(tokens === undefined ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}
