import { GatewayError } from '../../../inference/gateway-error.ts';
import type { EmbedTexts } from '../../../tools/file-search/embed-texts.ts';
import { makeOwnCall } from '../shared/own-call.ts';
import type { EmbeddingServices } from './embedding-services.ts';
import { embed } from './embed-call.ts';
import { readVectors } from './read-reply.ts';

/** Normalises a vector to the length 1. */
function toUnit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length > 0 ? vector.map((value) => value / length) : vector;
}

/** The key name of these calls in the books of the user whose files are searched. */
const keyName = 'file search';

/**
 * Embeds texts with a model that clients could call too. Each request is a call of its own in the books of the user.
 */
export function embedWithModel(gateway: EmbeddingServices, model: string): EmbedTexts {
  return async (texts, { userName }, signal) => {
    const body = { model, input: [...texts], encoding_format: 'base64' };
    const reply = await makeOwnCall(gateway, { body, userName, keyName }, signal, (call) => embed(gateway, call));
    const vectors = readVectors(reply, texts.length);
    if (vectors === undefined)
      throw new GatewayError('upstream_invalid_reply', 'the reply of the embeddings model does not have one valid vector for each text');
    return vectors.map(toUnit);
  };
}
