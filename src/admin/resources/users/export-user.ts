import { Type } from 'typebox';

import { exportCalls } from '../../../billing/calls/export-calls.ts';
import { record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import { isStream, type Operation } from '../../operation.ts';
import { AdminProblem } from '../../problem.ts';
import { getWires, listCaptures } from '../captures/capture-operations.ts';
import { listErasures } from '../content/content-operations.ts';
import { listKeys } from '../keys/key-operations.ts';
import { getReceipt } from '../receipts/receipt-operations.ts';
import { readConversation as getConversation, listConversations } from '../stored/conversation-operations.ts';
import { readFile as getFile, listFiles, listVectorStores } from '../stored/file-operations.ts';
import { readResponse as getResponse, listResponses } from '../stored/response-operations.ts';
import { listVideos } from '../videos/video-operations.ts';
import { getUser } from './user-operations.ts';
import { listAll, runOperation, type UserObjectContext, type UserObjectServices } from './user-objects.ts';

/** One object, or why it cannot be read: it was deleted meanwhile, or it was sealed under another key. */
async function readOrRefusal(
  from: Operation<UserObjectServices>,
  id: string,
  context: UserObjectContext,
): Promise<{ readonly value: unknown } | { readonly bytes: Buffer } | { readonly refused: string }> {
  try {
    const answer = await runOperation(from, { params: { id } }, context);
    if (!isStream(answer)) return { value: answer.body };
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.stream) pieces.push(Buffer.from(piece));
    return { bytes: Buffer.concat(pieces) };
  } catch (error) {
    if (error instanceof AdminProblem) return { refused: error.message };
    throw error;
  }
}

const line = (type: string, value: unknown, more: object = {}): string => `${JSON.stringify({ type, ...more, [type]: value })}\n`;

/** The content of an object for a line of the export. */
async function contentOf(from: Operation<UserObjectServices>, id: string, context: UserObjectContext): Promise<object> {
  if (!context.principal.permissions.has('content:read')) return {};
  const read = await readOrRefusal(from, id, context);
  if ('refused' in read) return { content_refused: read.refused };
  if ('value' in read) return { content: read.value };
  return from === getFile
    ? { content_base64: read.bytes.toString('base64') }
    : { content: JSON.parse(read.bytes.toString('utf8')) as unknown };
}

async function* calls(userName: string, context: UserObjectContext): AsyncGenerator<string> {
  const { services, principal, signal } = context;
  let rest = '';
  const stream = exportCalls(services.calls, { filter: { users: [userName] }, scope: principal.users, format: 'jsonl' }, signal);
  for await (const piece of stream) {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      const call = JSON.parse(text) as { readonly call_id: string };
      const receipt = await readOrRefusal(getReceipt, call.call_id, context);
      yield line('call', call, 'value' in receipt ? { receipt: receipt.value } : {});
    }
  }
}

async function* captures(userName: string, context: UserObjectContext): AsyncGenerator<string> {
  const answer = await runOperation(listCaptures, {}, context);
  if (isStream(answer)) return;
  for (const capture of answer.body.items.filter(({ user }) => user === userName)) {
    yield line('capture', capture);
    for (const { call_id } of capture.kept) yield line('captured_call', call_id, await contentOf(getWires, call_id, context));
  }
}

/** Places that this console does not read. */
const elsewhere = [
  'content that was recorded by choice is in the buckets, folders and collectors of the configuration (content.sinks)',
  'files of videos: GET /videos/{id}/content',
  'what vendors keep of calls and stored responses',
];

async function* exportAll(userName: string, context: UserObjectContext): AsyncGenerator<string> {
  const user = await runOperation(getUser, { params: { name: userName } }, context);
  if (!isStream(user)) yield line('user', user.body);
  for await (const key of listAll(listKeys, userName, context)) yield line('key', key);
  yield* calls(userName, context);
  for await (const each of listAll(listResponses, userName, context))
    yield line('response', each, await contentOf(getResponse, each.id, context));
  for await (const each of listAll(listConversations, userName, context))
    yield line('conversation', each, await contentOf(getConversation, each.id, context));
  for await (const each of listAll(listFiles, userName, context)) yield line('file', each, await contentOf(getFile, each.id, context));
  for await (const each of listAll(listVectorStores, userName, context)) yield line('vector_store', each);
  for await (const each of listAll(listVideos, userName, context)) yield line('video', each);
  yield* captures(userName, context);
  const erasures = await runOperation(listErasures, {}, context);
  if (!isStream(erasures))
    for (const each of erasures.body.items.filter(({ user: name }) => name === userName)) yield line('content_erasure', each);
  yield line('elsewhere', elsewhere);
}

export const exportUser = operation({
  id: 'users.export',
  method: 'GET',
  path: '/users/{name}/export',
  summary: 'Everything that is held about a user, as JSON Lines; the content of stored objects only with content:read',
  access: 'calls:read',
  recentSignIn: true,
  params: record({ name: Type.String({ maxLength: 256 }) }),
  streams: ['application/jsonl'],
  handle: async ({ params }, context: UserObjectContext) => {
    await runOperation(getUser, { params }, context);
    const name = params.name.normalize('NFC');
    await context.services.audit.recordAction({ action: 'users.export', subject: `user:${name}` }, context.change());
    return { stream: exportAll(name, context), contentType: 'application/jsonl', fileName: 'user.jsonl' };
  },
});
