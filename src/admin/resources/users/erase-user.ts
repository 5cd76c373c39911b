import { Type } from 'typebox';

import { eraseContent } from '../../../content/erase-content.ts';
import { record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import { isStream, type Operation } from '../../operation.ts';
import { AdminProblem } from '../../problem.ts';
import { deleteCapture, listCaptures } from '../captures/capture-operations.ts';
import { deleteKey, listKeys } from '../keys/key-operations.ts';
import { deleteConversation, listConversations } from '../stored/conversation-operations.ts';
import { deleteFile, deleteVectorStore, listFiles, listVectorStores } from '../stored/file-operations.ts';
import { deleteResponse, listResponses } from '../stored/response-operations.ts';
import { deleteVideo, listVideos } from '../videos/video-operations.ts';
import { exportUser } from './export-user.ts';
import { getUser } from './user-operations.ts';
import { listAll, runOperation, type UserObjectContext, type UserObjectServices } from './user-objects.ts';

/** The most objects of one kind that one request deletes, so that it ends in time. */
const objectsMax = 500;

const counts = {
  keys: Type.Integer(),
  responses: Type.Integer(),
  conversations: Type.Integer(),
  files: Type.Integer(),
  vector_stores: Type.Integer(),
  videos: Type.Integer(),
  captures: Type.Integer(),
  callbacks: Type.Integer(),
  kept_replies: Type.Integer({ description: 'Of requests with an idempotency key.' }),
  images: Type.Integer({ description: 'With links. A gateway deletes their files soon.' }),
};

/** What stays, and why. */
const remaining = [
  {
    what: 'rows of calls, in the database and in archives, with the names of the user and the keys',
    why: 'the ledger is append-only: its sums, receipts and statistics must stay verifiable',
  },
  { what: 'the rows of the credit ledger', why: 'they are accounts' },
  { what: 'the user and the names of its deleted keys', why: 'the books refer to them' },
  { what: 'rows of the audit log about the user', why: 'its chain of hashes proves that none was removed' },
  { what: 'refused requests', why: 'they are deleted after 7 days' },
  { what: 'content that a collector has received, and what vendors keep', why: 'they are in the hands of others' },
  { what: 'backups', why: 'delete those from before' },
];

type Deleted = { readonly count: number; readonly left: number };

/** Deletes what a list has. An object that cannot be deleted yet, such as a running video, is counted as left. */
async function deleteEach(
  items: AsyncIterable<{ readonly id: string }> | Iterable<{ readonly id: string }>,
  remove: Operation<UserObjectServices>,
  context: UserObjectContext,
): Promise<Deleted> {
  const ids: string[] = [];
  for await (const { id } of items) if (ids.push(id) > objectsMax) break;
  let count = 0;
  for (const id of ids.slice(0, objectsMax)) {
    try {
      await runOperation(remove, { params: { id } }, context);
      count += 1;
    } catch (error) {
      if (!(error instanceof AdminProblem) || !['not_found', 'conflict'].includes(error.code)) throw error;
    }
  }
  return { count, left: ids.length - count };
}

async function listCapturesOf(userName: string, context: UserObjectContext) {
  const answer = await runOperation(listCaptures, {}, context);
  return isStream(answer) ? [] : answer.body.items.filter(({ user }) => user === userName);
}

export const eraseUser = operation({
  id: 'users.erase',
  method: 'POST',
  path: '/users/{name}/erase',
  summary: 'Ends the keys of a user and deletes everything that is stored for it; the books stay',
  access: 'config:write',
  recentSignIn: true,
  params: record({ name: Type.String({ maxLength: 256 }) }),
  body: request({ confirm: Type.String({ maxLength: 256, description: 'The name of the user once more.' }) }),
  reply: record({
    deleted: record(counts),
    left: Type.Integer({ description: 'Objects that were not deleted yet: running videos, or too many for one request. Ask again.' }),
    remaining: Type.Array(record({ what: Type.String(), why: Type.String() })),
  }),
  handle: async ({ params, body }, context: UserObjectContext) => {
    await runOperation(getUser, { params }, context);
    const userName = params.name.normalize('NFC');
    if (body.confirm.normalize('NFC') !== userName)
      throw new AdminProblem('invalid_request', `The field confirm must be "${userName}", the name of the user.`);
    const { services, change } = context;
    // Keys end first, so that nothing is added meanwhile.
    const keys = await deleteEach(listAll(listKeys, userName, context), deleteKey, context);
    await eraseContent(services.content, { userName, beforeMs: undefined }, change());
    const captures = await deleteEach(await listCapturesOf(userName, context), deleteCapture, context);
    const responses = await deleteEach(listAll(listResponses, userName, context), deleteResponse, context);
    const conversations = await deleteEach(listAll(listConversations, userName, context), deleteConversation, context);
    const stores = await deleteEach(listAll(listVectorStores, userName, context), deleteVectorStore, context);
    const files = await deleteEach(listAll(listFiles, userName, context), deleteFile, context);
    const videos = await deleteEach(listAll(listVideos, userName, context), deleteVideo, context);
    const remains = await services.remains.eraseRemains(userName);
    const all = { keys, responses, conversations, files, vector_stores: stores, videos, captures };
    const deleted = {
      ...(Object.fromEntries(Object.entries(all).map(([name, { count }]) => [name, count])) as Record<keyof typeof all, number>),
      callbacks: remains.callbacks,
      kept_replies: remains.keptReplies,
      images: remains.images,
    };
    await services.audit.recordAction({ action: 'users.erase', subject: `user:${userName}`, after: JSON.stringify(deleted) }, change());
    const left = Object.values(all).reduce((sum, each) => sum + each.left, 0);
    return { body: { deleted, left, remaining } };
  },
});

export const userObjectOperations: readonly Operation<UserObjectServices>[] = [exportUser, eraseUser];
