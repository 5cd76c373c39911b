import { countTokens } from '../../count-tokens.ts';
import type { Json, SimulatedReply, SimulatedRequest } from '../../simulated-vendor.ts';
import { refuse } from './responses-error.ts';

const usualDimensions = 256;
const dimensionsMax = 3072;
const inputsMax = 2048;

/**
 * POST /v1/embeddings; undefined for every other route. A vector counts the words of its text, so that texts with
 * common words are close to each other.
 */
export function handleEmbeddings(request: SimulatedRequest): SimulatedReply | undefined {
  if (request.path !== '/v1/embeddings' || request.method !== 'POST') return undefined;
  const { model, input = null, dimensions = usualDimensions, encoding_format: format = 'float' } = request.body ?? {};
  if (typeof model !== 'string') throw refuse('you must provide a model parameter', { param: 'model' });
  if (typeof dimensions !== 'number' || !Number.isInteger(dimensions) || dimensions < 1 || dimensions > dimensionsMax)
    throw refuse(`Invalid value for 'dimensions': must be from 1 to ${dimensionsMax}.`, { param: 'dimensions' });
  if (format !== 'float' && format !== 'base64') throw refuse("Invalid value for 'encoding_format'.", { param: 'encoding_format' });
  const texts = readTexts(input);
  const data = texts.map((text, index) => ({ object: 'embedding', index, embedding: encode(embedText(text, dimensions), format) }));
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  const body = { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
  return { type: 'whole', status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** Tokens represent words of their own. */
function readTexts(input: Json): readonly string[] {
  const isTokens = Array.isArray(input) && input.every((token) => typeof token === 'number');
  const items = Array.isArray(input) && !isTokens ? input : [input];
  if (items.length === 0 || items.length > inputsMax) throw refuse("'$.input' is invalid.", { param: 'input' });
  return items.map((item) => {
    if (typeof item === 'string' && item !== '') return item;
    if (Array.isArray(item) && item.length > 0) return item.map((token) => `token${JSON.stringify(token)}`).join(' ');
    throw refuse("'$.input' is invalid.", { param: 'input' });
  });
}

/**
 * A vector of length 1 in which each word adds to one position. Words count by their beginnings, so that their
 * inflected forms are close too.
 */
export function embedText(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const place = hash(word.slice(0, 5)) % dimensions;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

/** FNV-1a. */
function hash(word: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) value = Math.imul(value ^ word.charCodeAt(at), 0x01000193) >>> 0;
  return value;
}

function encode(vector: Float32Array, format: 'float' | 'base64'): Json {
  return format === 'float' ? Array.from(vector) : Buffer.from(vector.buffer).toString('base64');
}
