import { type Static, Type } from 'typebox';

import type { UserScope } from '../../../accounts/people/principal.ts';
import type { ResponseSummary } from '../../../conversations/stored-lists.ts';
import { credentialNameOf } from '../../../control/nodes/node-state.ts';
import { writeJson } from '../../../platform/json/write-json.ts';
import { instant, nullable, pageSchema, record } from '../../contract/values.ts';
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

const statuses = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] as const;

/** The kind of operations that delete the copy of a response at the vendor. A gateway runs them. */
export const vendorDeletionKind = 'responses.delete_at_vendor';

const responseSchema = record(
  {
    id: Type.String({ examples: ['resp_01k9…'] }),
    user: Type.String(),
    key_id: Type.String(),
    status: Type.Enum(statuses),
    bytes: Type.Integer({ description: 'Sealed, as it is stored.' }),
    created_at: Type.String(),
    expires_at: Type.String(),
    previous_response_id: nullable(Type.String({ description: 'The response that it continues.' })),
    conversation_id: nullable(Type.String()),
    followers: Type.Integer({ description: 'Responses that continue it. Its items are kept as long as they need them.' }),
  },
  'A stored response, without its content.',
);

const encode = (response: ResponseSummary): Static<typeof responseSchema> => ({
  id: response.id,
  user: response.userName,
  key_id: response.keyId,
  status: response.status,
  bytes: response.bytes,
  created_at: instant(response.createdAtMs),
  expires_at: instant(response.expiresAtMs),
  previous_response_id: response.previousResponseId ?? null,
  conversation_id: response.conversationId ?? null,
  followers: response.followers,
});

/** A response that may be seen; the newest, if several users have one of this id. @throws AdminProblem `not_found` */
async function find({ stored }: StoredServices, users: UserScope, id: string, nowMs: number): Promise<ResponseSummary> {
  return oneOf(await stored.queryResponses({ users, id, nowMs, limit: 1 }), 'stored response');
}

export const listResponses = operation({
  id: 'responses.list',
  method: 'GET',
  path: '/responses',
  summary: 'Stored responses, newest first, without their content',
  access: 'calls:read',
  query: record({
    ...storedQuery,
    key_id: Type.Optional(Type.String({ maxLength: 64 })),
    status: Type.Optional(Type.Array(Type.Enum(statuses), { maxItems: statuses.length, description: 'Repeat it for "or".' })),
    previous_response_id: Type.Optional(Type.String({ maxLength: 256, description: 'Only those that continue this one.' })),
    conversation_id: Type.Optional(Type.String({ maxLength: 256, description: 'Only those of this conversation.' })),
  }),
  reply: pageSchema(responseSchema),
  handle: ({ query }, context: StoredContext) => {
    const { key_id, status, previous_response_id, conversation_id, ...page } = query;
    const list = { name: 'responses', key_id, status, previous_response_id, conversation_id };
    const filter = {
      ...(key_id !== undefined && { keyId: key_id }),
      ...(status !== undefined && { statuses: status }),
      ...(previous_response_id !== undefined && { previousResponseId: previous_response_id }),
      ...(conversation_id !== undefined && { conversationId: conversation_id }),
      nowMs: context.nowMs(),
    };
    return answerStoredList(list, page, context, {
      read: (rows) => context.services.stored.queryResponses({ ...rows, ...filter }),
      encode,
    });
  },
});

export const getResponse = operation({
  id: 'responses.get',
  method: 'GET',
  path: '/responses/{id}',
  summary: 'One stored response, without its content',
  access: 'calls:read',
  params: storedParams,
  reply: responseSchema,
  handle: async ({ params }, { services, principal, nowMs }: StoredContext) => {
    const found = await find(services, principal.users, params.id, nowMs());
    return { body: encode(found), version: found.version };
  },
});

export const readResponse = operation({
  id: 'responses.content',
  method: 'GET',
  path: '/responses/{id}/content',
  summary: 'The input and the reply of a stored response; each reading is in the audit log',
  access: 'content:read',
  streams: ['application/json'],
  params: storedParams,
  handle: async ({ params: { id } }, context: StoredContext) => {
    const { services, principal, change, nowMs } = context;
    const { userName } = await find(services, principal.users, id, nowMs());
    await services.audit.recordAction({ action: 'responses.read_content', subject: `response:${id}` }, change());
    const found = await services.conversations.findResponse(userName, id).catch(refuseSealed);
    if (found === undefined) throw notFound('stored response of this id');
    const { input, response } = found;
    const stream = (async function* () {
      yield await writeJson({ input, response });
    })();
    return { stream, contentType: 'application/json', fileName: `${id}.json` };
  },
});

export const deleteResponse = operation({
  id: 'responses.delete',
  method: 'DELETE',
  path: '/responses/{id}',
  summary: 'Deletes a stored response; what later responses need of it stays hidden until they end. A gateway deletes the copy of a vendor',
  access: 'limits:write',
  status: 204,
  params: storedParams,
  versionOf: async ({ id = '' }, services: StoredServices, { users }, nowMs) => (await find(services, users, id, nowMs)).version,
  handle: async ({ params: { id } }, context: StoredContext): Promise<Answer<undefined>> => {
    const { services, principal, change, expected, nowMs } = context;
    const { userName } = await find(services, principal.users, id, nowMs());
    // A response that cannot be opened is still deleted here; whether a vendor has it is unknown then.
    const keeper = await services.conversations.findResponse(userName, id).then(
      (response) => response?.keeper,
      () => undefined,
    );
    const version = expected === undefined ? {} : { version: expected };
    const isRemoved = await services.stored.removeResponse({ userName, id, nowMs: nowMs(), ...version, change: change() });
    if (!isRemoved) throw notFound('stored response of this id');
    if (keeper !== undefined)
      await services.operations.start({
        kind: vendorDeletionKind,
        permission: 'limits:write',
        input: { response_id: id, upstream: keeper.upstream, credential: credentialNameOf(keeper.credential) },
        change: change(),
        isAudited: true,
      });
    return { body: undefined };
  },
});

export const responseOperations: readonly Operation<StoredServices>[] = [listResponses, getResponse, readResponse, deleteResponse];
