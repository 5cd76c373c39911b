import { GatewayError } from '../../../inference/gateway-error.ts';
import { describeList } from './describe-list.ts';
import { notFound } from '../shared/not-found.ts';
import { readFlag, readInclude, readPageQuery } from './read-query.ts';
import { showResponse } from '../../../dialects/openai-responses/show-item.ts';
import type { StoredObjectRequest, StoredObjectRoute, StoredObjects } from './stored-objects.ts';

type Action = Extract<StoredObjectRoute, { object: 'response' }>['action'];

/** Serves one stored response. */
export async function serveResponse(stored: StoredObjects, action: Action, http: StoredObjectRequest): Promise<object | undefined> {
  const id = http.params['id'] ?? '';
  switch (action) {
    case 'show':
      return await show(stored, id, http);
    case 'delete':
      return await remove(stored, id, http);
    case 'cancel': {
      const cancelled = await stored.cancelStored?.(http.caller.userName, id);
      if (cancelled === undefined) throw notFound('Response', id);
      return cancelled;
    }
    case 'list-input-items': {
      const include = readInclude(http.query);
      const page = await stored.conversations.listInputItems(http.caller.userName, id, readPageQuery(http.query));
      if (page === undefined) throw notFound('Response', id);
      return describeList(page, include);
    }
  }
}

async function show(stored: StoredObjects, id: string, http: StoredObjectRequest): Promise<object | undefined> {
  const { query, callId, request, response } = http;
  const { userName } = http.caller;
  const include = readInclude(query);
  const streamed = readFlag(query, 'stream');
  if (!streamed && query.has('starting_after')) {
    throw new GatewayError('invalid_value', "'starting_after' requires stream=true.", { param: 'starting_after' });
  }
  const found = await stored.conversations.findResponse(userName, id);
  if (found === undefined) throw notFound('Response', id);
  if (!streamed) return showResponse(found.response, include);
  if (stored.streamStored === undefined) {
    throw new GatewayError('invalid_value', 'the stream of this response was not stored.', { param: 'stream' });
  }
  await stored.streamStored({ userName, id, query, callId, request, response });
  return undefined;
}

async function remove({ conversations, deleteAtKeeper }: StoredObjects, id: string, { caller }: StoredObjectRequest): Promise<object> {
  const found = await conversations.findResponse(caller.userName, id);
  if (found?.keeper !== undefined) await deleteAtKeeper?.(found.keeper, id);
  if (!(await conversations.deleteResponse(caller.userName, id))) throw notFound('Response', id);
  return { id, object: 'response', deleted: true };
}
