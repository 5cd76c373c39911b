import type { Conversation, Conversations } from '../../../conversations/response-store.ts';
import { isItemReference, onlyObjects, toStoredItem } from '../../../conversations/to-stored-item.ts';
import { type ConversationBody, validateConversationBody } from '../../../dialects/openai-responses/validate-conversation.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import { readRequest } from '../../admission/read-request.ts';
import { describeList } from './describe-list.ts';
import { notFound } from '../shared/not-found.ts';
import { readInclude, readPageQuery } from './read-query.ts';
import { showItem } from '../../../dialects/openai-responses/show-item.ts';
import type { StoredObjectRequest, StoredObjectRoute, StoredObjects } from './stored-objects.ts';

type ConversationRoute = Exclude<StoredObjectRoute, { object: 'response' }>;

const dayMs = 86_400_000;

/** Serves a conversation or its items. */
export async function serveConversation(
  { conversations }: StoredObjects,
  route: ConversationRoute,
  http: StoredObjectRequest,
): Promise<object> {
  if (route.object === 'item') return await serveItem(conversations, route.action, http);
  const id = http.params['id'] ?? '';
  const { userName } = http.caller;
  switch (route.action) {
    case 'create':
      return await create(conversations, http);
    case 'show':
      return describe(await found(conversations.findConversation(userName, id), 'Conversation', id));
    case 'update': {
      const { metadata } = await readBody('update', http);
      return describe(await found(conversations.updateConversation(userName, id, toMetadata(metadata)), 'Conversation', id));
    }
    case 'delete':
      if (!(await conversations.deleteConversation(userName, id))) throw notFound('Conversation', id);
      return { id, object: 'conversation.deleted', deleted: true };
  }
}

type ItemAction = Extract<StoredObjectRoute, { object: 'item' }>['action'];

async function serveItem(conversations: Conversations, action: ItemAction, http: StoredObjectRequest): Promise<object> {
  const { userName } = http.caller;
  const { id = '', itemId = '' } = http.params;
  const include = readInclude(http.query);
  switch (action) {
    case 'list': {
      const page = conversations.listConversationItems(userName, id, readPageQuery(http.query));
      return describeList(await found(page, 'Conversation', id), include);
    }
    case 'add': {
      const body = await readBody('add-items', http);
      // First: a caller who may not add items must not learn whether the items that they name exist.
      await found(conversations.findConversation(userName, id), 'Conversation', id);
      const items = await resolveItems(conversations, body['items'], http);
      if (!(await conversations.appendItems(userName, id, items))) throw notFound('Conversation', id);
      return describeList({ items, hasMore: false }, include);
    }
    case 'show': {
      await found(conversations.findConversation(userName, id), 'Conversation', id);
      return showItem(await found(conversations.findConversationItem(userName, id, itemId), 'Item', itemId), include);
    }
    case 'delete': {
      const conversation = await found(conversations.findConversation(userName, id), 'Conversation', id);
      if (!(await conversations.deleteConversationItem(userName, id, itemId))) throw notFound('Item', itemId);
      return describe(conversation);
    }
  }
}

async function create(conversations: Conversations, http: StoredObjectRequest): Promise<object> {
  const body = await readBody('create', http);
  const { caller, settings, nowMs, newId } = http;
  const retentionMs = (caller.responseRetentionDays ?? settings.retentionDays) * dayMs;
  if (retentionMs === 0) {
    const text = 'this API key stores nothing, so it cannot have conversations; send the whole input with each request';
    throw new GatewayError('invalid_value', text);
  }
  const items = await resolveItems(conversations, body['items'], http);
  const metadata = toMetadata(body['metadata']);
  const conversation = { id: newId('conv'), userName: caller.userName, createdAtMs: nowMs, keptMs: retentionMs, metadata };
  await conversations.createConversation(conversation, items);
  return describe(conversation);
}

async function readBody(kind: ConversationBody, { request, settings, mayHold }: StoredObjectRequest): Promise<JsonObject> {
  const { body } = await readRequest(request, settings.limits, mayHold);
  validateConversationBody(kind, body, settings.validation);
  return body;
}

/** Items in their stored form. A reference is replaced by the item that it names. */
async function resolveItems(conversations: Conversations, values: unknown, http: StoredObjectRequest): Promise<readonly JsonObject[]> {
  const items = onlyObjects(values);
  const named = items.filter(isItemReference).map(({ id }) => id);
  const referenced = named.length === 0 ? new Map<string, JsonObject>() : await conversations.findItems(http.caller.userName, named);
  return items.map((item) => {
    if (!isItemReference(item)) return toStoredItem(item, http.newId);
    const found = referenced.get(item.id);
    if (found === undefined) throw notFound('Item', item.id);
    return found;
  });
}

async function found<Found>(search: Promise<Found | undefined>, kind: 'Conversation' | 'Item', id: string): Promise<Found> {
  const object = await search;
  if (object === undefined) throw notFound(kind, id);
  return object;
}

function describe({ id, createdAtMs, metadata }: Conversation): object {
  return { id, object: 'conversation', created_at: Math.floor(createdAtMs / 1000), metadata };
}

function toMetadata(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
