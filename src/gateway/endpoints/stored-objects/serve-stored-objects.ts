import type { StoredObjectRoute, StoredObjects, StoredObjectRequest } from './stored-objects.ts';

import { serveConversation } from './serve-conversation.ts';
import { serveResponse } from './serve-response.ts';

/**
 * Serves a stored response, conversation or item to its user. Undefined when the reply has been written already, else what is to be answered.
 * @throws GatewayError `object_not_found` for what is not there and for what is another's, in the same words
 */
export function serveStoredObject(
  stored: StoredObjects,
  route: StoredObjectRoute,
  asked: StoredObjectRequest,
): Promise<object | undefined> {
  return route.object === 'response' ? serveResponse(stored, route.action, asked) : serveConversation(stored, route, asked);
}
