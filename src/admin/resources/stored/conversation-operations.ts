import { type Static, Type } from 'typebox';

import type { UserScope } from '../../../accounts/people/principal.ts';
import type { ItemPage } from '../../../conversations/response-store.ts';
import type { ConversationSummary } from '../../../conversations/stored-lists.ts';
import { writeJson } from '../../../platform/json/write-json.ts';
import { instant, nullable, optionalInstant, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { Answer, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import {
  answerStoredList,
  oneOf,
  refuseSealed,
  type StoredContext,
  storedParams,
  storedQuery,
  type StoredServices,
} from './stored-services.ts';

const conversationSchema = record(
  {
    id: Type.String({ examples: ['conv_01k9…'] }),
    user: Type.String(),
    items: Type.Integer(),
    bytes: Type.Integer({ description: 'Sealed, as it is stored.' }),
    created_at: Type.String(),
    expires_at: nullable(Type.String({ description: 'Each change postpones it. Null: kept until it is deleted.' })),
  },
  'A conversation object, without its content.',
);

const encode = (conversation: ConversationSummary): Static<typeof conversationSchema> => ({
  id: conversation.id,
  user: conversation.userName,
  items: conversation.items,
  bytes: conversation.bytes,
  created_at: instant(conversation.createdAtMs),
  expires_at: optionalInstant(conversation.expiresAtMs),
});

/** A conversation that may be seen. @throws AdminProblem `not_found` */
async function find({ stored }: StoredServices, users: UserScope, id: string, nowMs: number): Promise<ConversationSummary> {
  return oneOf(await stored.queryConversations({ users, id, nowMs, limit: 1 }), 'conversation');
}

export const listConversations = operation({
  id: 'conversations.list',
  method: 'GET',
  path: '/conversations',
  summary: 'Conversation objects, newest first, without their content',
  access: 'calls:read',
  query: record(storedQuery),
  reply: pageSchema(conversationSchema),
  handle: ({ query }, context: StoredContext) =>
    answerStoredList({ name: 'conversations' }, query, context, {
      read: (rows) => context.services.stored.queryConversations({ ...rows, nowMs: context.nowMs() }),
      encode,
    }),
});

export const getConversation = operation({
  id: 'conversations.get',
  method: 'GET',
  path: '/conversations/{id}',
  summary: 'One conversation object, without its content',
  access: 'calls:read',
  params: storedParams,
  reply: conversationSchema,
  handle: async ({ params }, { services, principal, nowMs }: StoredContext) => {
    const found = await find(services, principal.users, params.id, nowMs());
    return { body: encode(found), version: found.version };
  },
});

/** Items that are opened together. */
const pageItems = 100;

export const readConversation = operation({
  id: 'conversations.content',
  method: 'GET',
  path: '/conversations/{id}/content',
  summary: 'The metadata and all items of a conversation, oldest first; each reading is in the audit log',
  access: 'content:read',
  streams: ['application/json'],
  params: storedParams,
  handle: async ({ params: { id } }, context: StoredContext) => {
    const { services, principal, change, nowMs, signal } = context;
    const { userName } = await find(services, principal.users, id, nowMs());
    await services.audit.recordAction({ action: 'conversations.read_content', subject: `conversation:${id}` }, change());
    const { findConversation, listConversationItems } = services.conversations;
    const readPage = (after?: string): Promise<ItemPage | undefined> =>
      listConversationItems(userName, id, { limit: pageItems, order: 'asc', ...(after !== undefined && { after }) });
    const [found, first] = await Promise.all([findConversation(userName, id), readPage()]).catch(refuseSealed);
    if (found === undefined || first === undefined) throw notFound('conversation of this id');
    const stream = (async function* () {
      yield '{"metadata":';
      yield await writeJson(found.metadata);
      yield ',"items":[';
      let isFirst = true;
      for (let page: ItemPage | undefined = first; page !== undefined;) {
        for (const item of page.items) {
          if (!isFirst) yield ',';
          yield await writeJson(item);
          isFirst = false;
        }
        const last: unknown = page.items.at(-1)?.['id'];
        signal.throwIfAborted();
        page = page.hasMore && typeof last === 'string' ? await readPage(last) : undefined;
      }
      yield ']}';
    })();
    return { stream, contentType: 'application/json', fileName: `${id}.json` };
  },
});

export const deleteConversation = operation({
  id: 'conversations.delete',
  method: 'DELETE',
  path: '/conversations/{id}',
  summary: 'Deletes a conversation object with its items; responses that were made in it stay',
  access: 'limits:write',
  status: 204,
  params: storedParams,
  versionOf: async ({ id = '' }, services: StoredServices, { users }, nowMs) => (await find(services, users, id, nowMs)).version,
  handle: async ({ params: { id } }, context: StoredContext): Promise<Answer<undefined>> => {
    const { services, principal, change, expected, nowMs } = context;
    const { userName } = await find(services, principal.users, id, nowMs());
    const version = expected === undefined ? {} : { version: expected };
    const isRemoved = await services.stored.removeConversation({ userName, id, nowMs: nowMs(), ...version, change: change() });
    if (!isRemoved) throw notFound('conversation of this id');
    return { body: undefined };
  },
});

export const conversationOperations: readonly Operation<StoredServices>[] = [
  listConversations,
  getConversation,
  readConversation,
  deleteConversation,
];
