import { GatewayError } from '../../../inference/gateway-error.ts';

const idCharactersMax = 100;

/** The same error for a missing object and for another user's, so that it does not reveal which. */
export function notFound(kind: 'Response' | 'Conversation' | 'Item', id: string): GatewayError {
  return new GatewayError('object_not_found', `${kind} with id '${id.slice(0, idCharactersMax)}' not found.`);
}
