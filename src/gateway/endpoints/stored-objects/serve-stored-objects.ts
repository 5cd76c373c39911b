import type { StoredObjectRoute, StoredObjects, StoredObjectRequest } from './stored-objects.ts';

import { serveConversation } from './serve-conversation.ts';
import { serveResponse } from './serve-response.ts';

/**
 * Serves a stored response, conversation or item to its user. Undefined if the reply is written already.
 * @throws GatewayError `object_not_found`, with the same message for unknown objects and those of other users
 */
export function serveStoredObject(stored: StoredObjects, route: StoredObjectRoute, http: StoredObjectRequest): Promise<object | undefined> {
  return route.object === 'response' ? serveResponse(stored, route.action, http) : serveConversation(stored, route, http);
}
