import { type Static, Type } from 'typebox';

import type { Principal, UserScope } from '../../../accounts/people/principal.ts';
import { expiryOf, type CountedStore, type StoredFile } from '../../../tools/file-search/file-objects.ts';
import { answerContent } from '../../content-answer.ts';
import { instant, nullable, optionalInstant, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { Answer, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import {
  answerStoredList,
  oneOf,
  shownName,
  type StoredContext,
  storedParams,
  storedQuery,
  type StoredServices,
} from './stored-services.ts';

const nameNote = 'Null without the permission content:read.';
const fileSchema = record(
  {
    id: Type.String({ examples: ['file-01k9…'] }),
    user: Type.String(),
    filename: nullable(Type.String({ description: nameNote })),
    purpose: Type.String(),
    type: Type.String({ description: 'The type that its first bytes show.' }),
    bytes: Type.Integer(),
    created_at: Type.String(),
    expires_at: nullable(Type.String()),
  },
  'A file of a user, without its content.',
);

const encodeFile = (principal: Principal, file: StoredFile): Static<typeof fileSchema> => ({
  id: file.id,
  user: file.userName,
  filename: shownName(principal, file.filename),
  purpose: file.purpose,
  type: file.mediaType,
  bytes: file.bytes,
  created_at: instant(file.createdAtMs),
  expires_at: optionalInstant(file.expiresAtMs),
});

/** A file that may be seen. @throws AdminProblem `not_found` */
async function findFile({ stored }: StoredServices, users: UserScope, id: string, nowMs: number): Promise<StoredFile> {
  return oneOf(await stored.queryFiles({ users, id, nowMs, limit: 1 }), 'file');
}

/** A file never changes. */
const fileVersion = 1;

export const listFiles = operation({
  id: 'files.list',
  method: 'GET',
  path: '/files',
  summary: 'Files of users, newest first, without their content',
  access: 'calls:read',
  query: record({
    ...storedQuery,
    purpose: Type.Optional(Type.String({ maxLength: 64 })),
    vector_store_id: Type.Optional(Type.String({ maxLength: 256, description: 'Only those in this vector store.' })),
  }),
  reply: pageSchema(fileSchema),
  handle: ({ query }, context: StoredContext) => {
    const { purpose, vector_store_id, ...page } = query;
    const filter = {
      ...(purpose !== undefined && { purpose }),
      ...(vector_store_id !== undefined && { storeId: vector_store_id }),
      nowMs: context.nowMs(),
    };
    return answerStoredList({ name: 'files', purpose, vector_store_id }, page, context, {
      read: (rows) => context.services.stored.queryFiles({ ...rows, ...filter }),
      encode: (file) => encodeFile(context.principal, file),
    });
  },
});

export const getFile = operation({
  id: 'files.get',
  method: 'GET',
  path: '/files/{id}',
  summary: 'One file, without its content',
  access: 'calls:read',
  params: storedParams,
  reply: fileSchema,
  handle: async ({ params }, { services, principal, nowMs }: StoredContext) => ({
    body: encodeFile(principal, await findFile(services, principal.users, params.id, nowMs())),
    version: fileVersion,
  }),
});

export const readFile = operation({
  id: 'files.content',
  method: 'GET',
  path: '/files/{id}/content',
  summary: 'The bytes of a file, or the part of them that Range names; each reading is in the audit log',
  access: 'content:read',
  streams: ['application/octet-stream'],
  params: storedParams,
  handle: async ({ params: { id } }, context: StoredContext) => {
    const { services, principal, change, range, nowMs } = context;
    const file = await findFile(services, principal.users, id, nowMs());
    await services.audit.recordAction({ action: 'files.read_content', subject: `file:${id}` }, change());
    const { mediaType, bytes } = file;
    const open = async (part: Parameters<typeof services.readFile>[1]) => services.readFile(file, part);
    return await answerContent({ id, mediaType, bytes, tag: id, open }, range === undefined ? {} : { range });
  },
});

export const deleteFile = operation({
  id: 'files.delete',
  method: 'DELETE',
  path: '/files/{id}',
  summary: 'Deletes a file, and what vector stores have indexed of it',
  access: 'limits:write',
  status: 204,
  params: storedParams,
  versionOf: async ({ id = '' }, services: StoredServices, { users }, nowMs) => {
    await findFile(services, users, id, nowMs);
    return fileVersion;
  },
  handle: async ({ params: { id } }, { services, principal, change, nowMs }: StoredContext): Promise<Answer<undefined>> => {
    const { userName } = await findFile(services, principal.users, id, nowMs());
    if (!(await services.stored.removeFile({ userName, id, change: change() }))) throw notFound('file of this id');
    return { body: undefined };
  },
});

const storeSchema = record(
  {
    id: Type.String({ examples: ['vs_01k9…'] }),
    user: Type.String(),
    name: nullable(Type.String({ description: nameNote })),
    bytes: Type.Integer({ description: 'Text and vectors in the index.' }),
    files: record({ in_progress: Type.Integer(), completed: Type.Integer(), failed: Type.Integer(), cancelled: Type.Integer() }),
    created_at: Type.String(),
    last_used_at: Type.String(),
    expires_at: nullable(Type.String({ description: 'Each use postpones it. Null: kept until it is deleted.' })),
  },
  'A vector store, without its content.',
);

const encodeStore = (principal: Principal, store: CountedStore): Static<typeof storeSchema> => ({
  id: store.id,
  user: store.userName,
  name: shownName(principal, store.name),
  bytes: store.usageBytes,
  files: { ...store.counts },
  created_at: instant(store.createdAtMs),
  last_used_at: instant(store.lastActiveAtMs),
  expires_at: optionalInstant(expiryOf(store)),
});

/** A vector store that may be seen. @throws AdminProblem `not_found` */
async function findStore({ stored }: StoredServices, users: UserScope, id: string): Promise<CountedStore> {
  return oneOf(await stored.queryVectorStores({ users, id, limit: 1 }), 'vector store');
}

export const listVectorStores = operation({
  id: 'vector_stores.list',
  method: 'GET',
  path: '/vector_stores',
  summary: 'Vector stores, newest first; GET /files?vector_store_id= lists their files',
  access: 'calls:read',
  query: record(storedQuery),
  reply: pageSchema(storeSchema),
  handle: ({ query }, context: StoredContext) =>
    answerStoredList({ name: 'vector_stores' }, query, context, {
      read: (rows) => context.services.stored.queryVectorStores(rows),
      encode: (store) => encodeStore(context.principal, store),
    }),
});

export const getVectorStore = operation({
  id: 'vector_stores.get',
  method: 'GET',
  path: '/vector_stores/{id}',
  summary: 'One vector store',
  access: 'calls:read',
  params: storedParams,
  reply: storeSchema,
  handle: async ({ params }, { services, principal }: StoredContext) => {
    const found = await findStore(services, principal.users, params.id);
    return { body: encodeStore(principal, found), version: found.lastActiveAtMs };
  },
});

export const deleteVectorStore = operation({
  id: 'vector_stores.delete',
  method: 'DELETE',
  path: '/vector_stores/{id}',
  summary: 'Deletes a vector store with its index; its files stay. If-Match fails if it was used meanwhile',
  access: 'limits:write',
  status: 204,
  params: storedParams,
  versionOf: async ({ id = '' }, services: StoredServices, { users }) => (await findStore(services, users, id)).lastActiveAtMs,
  handle: async ({ params: { id } }, { services, principal, change, expected }: StoredContext): Promise<Answer<undefined>> => {
    const { userName } = await findStore(services, principal.users, id);
    const version = expected === undefined ? {} : { version: expected };
    if (!(await services.stored.removeVectorStore({ userName, id, ...version, change: change() })))
      throw notFound('vector store of this id');
    return { body: undefined };
  },
});

export const fileOperations: readonly Operation<StoredServices>[] = [listFiles, getFile, readFile, deleteFile];
export const vectorStoreOperations: readonly Operation<StoredServices>[] = [listVectorStores, getVectorStore, deleteVectorStore];
