import { GatewayError } from '../../../inference/gateway-error.ts';
import { describeList } from './describe-list.ts';
import { notFound } from '../shared/not-found.ts';
import { readFlag, readInclude, readPageQuery } from './read-query.ts';
import { showResponse } from '../../../dialects/openai-responses/show-item.ts';
import type { StoredObjectRequest, StoredObjectRoute, StoredObjects } from './stored-objects.ts';

type Action = Extract<StoredObjectRoute, { object: 'response' }>['action'];

/** Serves one stored response. */
export async function serveResponse(stored: StoredObjects, action: Action, asked: StoredObjectRequest): Promise<object | undefined> {
  const id = asked.params['id'] ?? '';
  switch (action) {
    case 'show':
      return await show(stored, id, asked);
    case 'delete':
      return await remove(stored, id, asked);
    case 'cancel': {
      const cancelled = await stored.cancelStored?.(asked.caller.userName, id);
      if (cancelled === undefined) throw notFound('Response', id);
      return cancelled;
    }
    case 'list-input-items': {
      const include = readInclude(asked.query);
      const page = await stored.conversations.listInputItems(asked.caller.userName, id, readPageQuery(asked.query));
      if (page === undefined) throw notFound('Response', id);
      return describeList(page, include);
    }
  }
}

async function show(stored: StoredObjects, id: string, asked: StoredObjectRequest): Promise<object | undefined> {
  const { query, callId, request, response } = asked;
  const { userName } = asked.caller;
  const include = readInclude(query);
  const streamed = readFlag(query, 'stream');
  if (!streamed && query.has('starting_after')) {
    throw new GatewayError('invalid_value', "'starting_after' is for streams: send stream=true with it.", { param: 'starting_after' });
  }
  const found = await stored.conversations.findResponse(userName, id);
  if (found === undefined) throw notFound('Response', id);
  if (!streamed) return showResponse(found.response, include);
  if (stored.streamStored === undefined) {
    throw new GatewayError('invalid_value', 'this response has no stream that could be read again.', { param: 'stream' });
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
