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
  asked: StoredObjectRequest,
): Promise<object> {
  if (route.object === 'item') return await serveItem(conversations, route.action, asked);
  const id = asked.params['id'] ?? '';
  const { userName } = asked.caller;
  switch (route.action) {
    case 'create':
      return await create(conversations, asked);
    case 'show':
      return describe(await found(conversations.findConversation(userName, id), 'Conversation', id));
    case 'update': {
      const { metadata } = await readBody('update', asked);
      return describe(await found(conversations.updateConversation(userName, id, toMetadata(metadata)), 'Conversation', id));
    }
    case 'delete':
      if (!(await conversations.deleteConversation(userName, id))) throw notFound('Conversation', id);
      return { id, object: 'conversation.deleted', deleted: true };
  }
}

type ItemAction = Extract<StoredObjectRoute, { object: 'item' }>['action'];

async function serveItem(conversations: Conversations, action: ItemAction, asked: StoredObjectRequest): Promise<object> {
  const { userName } = asked.caller;
  const { id = '', itemId = '' } = asked.params;
  const include = readInclude(asked.query);
  switch (action) {
    case 'list': {
      const page = conversations.listConversationItems(userName, id, readPageQuery(asked.query));
      return describeList(await found(page, 'Conversation', id), include);
    }
    case 'add': {
      const body = await readBody('add-items', asked);
      // Known first: whoever may not add to it learns nothing of what the items refer to.
      await found(conversations.findConversation(userName, id), 'Conversation', id);
      const items = await resolveItems(conversations, body['items'], asked);
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

async function create(conversations: Conversations, asked: StoredObjectRequest): Promise<object> {
  const body = await readBody('create', asked);
  const { caller, settings, nowMs, newId } = asked;
  const keptMs = (caller.responseRetentionDays ?? settings.retentionDays) * dayMs;
  if (keptMs === 0) {
    const text = 'nothing is stored for this API key, and a conversation is something stored; send the whole input with each request';
    throw new GatewayError('invalid_value', text);
  }
  const items = await resolveItems(conversations, body['items'], asked);
  const metadata = toMetadata(body['metadata']);
  const conversation = { id: newId('conv'), userName: caller.userName, createdAtMs: nowMs, keptMs, metadata };
  await conversations.createConversation(conversation, items);
  return describe(conversation);
}

async function readBody(kind: ConversationBody, { request, settings, mayHold }: StoredObjectRequest): Promise<JsonObject> {
  const { body } = await readRequest(request, settings.limits, mayHold);
  validateConversationBody(kind, body, settings.validation);
  return body;
}

/** Items as they are kept: those that only name a stored one are replaced by it. */
async function resolveItems(conversations: Conversations, values: unknown, asked: StoredObjectRequest): Promise<readonly JsonObject[]> {
  const items = onlyObjects(values);
  const named = items.filter(isItemReference).map(({ id }) => id);
  const known = named.length === 0 ? new Map<string, JsonObject>() : await conversations.findItems(asked.caller.userName, named);
  return items.map((item) => {
    if (!isItemReference(item)) return toStoredItem(item, asked.newId);
    const meant = known.get(item.id);
    if (meant === undefined) throw notFound('Item', item.id);
    return meant;
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
