import { GatewayError } from '../../../inference/gateway-error.ts';

const idCharactersMax = 100;

/** There is nothing of that id, or it is another's: nobody learns which. */
export function notFound(kind: 'Response' | 'Conversation' | 'Item', id: string): GatewayError {
  return new GatewayError('object_not_found', `${kind} with id '${id.slice(0, idCharactersMax)}' not found.`);
}
