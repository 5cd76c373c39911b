import { GatewayError } from '../../../inference/gateway-error.ts';
import type { EmbedTexts } from '../../../tools/file-search/embed-texts.ts';
import { makeOwnCall } from '../shared/own-call.ts';
import type { EmbeddingServices } from './embedding-services.ts';
import { embed } from './embed-call.ts';
import { readVectors } from './read-reply.ts';

/** The same direction with the length 1. */
function toUnit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length > 0 ? vector.map((value) => value / length) : vector;
}

/** Names the calls that no key made, in the books of the user whose files they are for. */
const keyName = 'file search';

/**
 * Vectors of texts by a model that clients could ask for too. Each request is a call of its own in the books of the
 * user.
 */
export function embedWithModel(gateway: EmbeddingServices, model: string): EmbedTexts {
  return async (texts, { userName }, signal) => {
    const body = { model, input: [...texts], encoding_format: 'base64' };
    const reply = await makeOwnCall(gateway, { body, userName, keyName }, signal, (call) => embed(gateway, call));
    const vectors = readVectors(reply, texts.length);
    if (vectors === undefined) throw new GatewayError('upstream_invalid_reply', 'the embeddings model left out texts or sent odd vectors');
    return vectors.map(toUnit);
  };
}
