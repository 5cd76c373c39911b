import type { GatewayError } from '../../inference/gateway-error.ts';
import type { HttpReply } from '../error-voice.ts';
import { encodeErrorReply } from '../encode-error-reply.ts';
import type { RerankForm } from './rerank-form.ts';

/**
 * Writes an error in the form of the client's vendor: `message` with an id for Cohere, `detail` for Jina and Voyage.
 */
export function encodeRerankError(error: GatewayError, form: RerankForm, requestId: string): HttpReply {
  const isCohere = form === 'cohere-v1' || form === 'cohere-v2';
  const body = isCohere ? { id: requestId, message: error.message } : { detail: error.message };
  return encodeErrorReply(error, requestId, JSON.stringify(body));
}
