import type { ConversationWrite, FoundItem, WriteOutcome } from '../../conversations/conversation-store.ts';
import { StoreError } from '../store-error.ts';
import {
  changeConversation,
  createConversationReading,
  putConversation,
  sweepConversationObjects,
} from './conversation-object-operations.ts';
import type { Database } from './database.ts';
import { readBytes, readText } from './read-column.ts';
import {
  appendEvents,
  createResponseReading,
  deleteResponse,
  extendLease,
  failResponse,
  putResponse,
  sweepResponses,
} from './response-operations.ts';
import type { ConversationStoreOperations } from '../worker/store-protocol.ts';

/** The SQL of stored responses and conversations. */
export function createConversationOperations(database: Database): ConversationStoreOperations {
  /** Whether the log may still contain deleted rows. */
  let deleted = false;
  return {
    ...createResponseReading(database),
    ...createConversationReading(database),
    writeConversations: async (writes) => {
      deleted ||= writes.some(({ type }) => type.startsWith('delete-'));
      return await database.transact(async (transaction) => {
        const outcomes: WriteOutcome[] = [];
        for (const write of writes) outcomes.push(await writeApart(transaction, write));
        return outcomes;
      });
    },
    findSealedItems: (query) => findItems(database, query),
    sweepConversations: async (limits) => {
      const swept = await sweep(database, limits);
      deleted ||= swept > 0;
      if (deleted && swept < limits.rowsMax) deleted = !(await database.forgetErased());
      return swept;
    },
  };
}

/** A write that fails must not undo the others in the same transaction. */
async function writeApart(database: Database, write: ConversationWrite): Promise<WriteOutcome> {
  try {
    return await database.transact((part) => writeOne(part, write));
  } catch (error) {
    if (!(error instanceof StoreError) || (error.kind !== 'constraint' && error.kind !== 'internal')) throw error;
    return 'failed';
  }
}

async function writeOne(database: Database, write: ConversationWrite): Promise<WriteOutcome> {
  switch (write.type) {
    case 'put-response':
      return await putResponse(database, write);
    case 'delete-response':
      return await deleteResponse(database, write);
    case 'fail-response':
      return await failResponse(database, write);
    case 'extend-lease':
      return await extendLease(database, write);
    case 'append-events':
      return await appendEvents(database, write);
    case 'put-conversation':
      return await putConversation(database, write);
    case 'update-conversation':
    case 'delete-conversation':
    case 'append-items':
    case 'delete-item':
    case 'lock-conversation':
    case 'unlock-conversation':
      return await changeConversation(database, write);
  }
}

async function findItems(
  database: Database,
  query: Parameters<ConversationStoreOperations['findSealedItems']>[0],
): Promise<readonly FoundItem[]> {
  const { userName, keys, nowMs, bytesMax } = query;
  const inResponse = `select responses.id as id, responses.number as number, part from response_items join responses on responses.number = response_number
    where item_key = ? and user_name = ? and deleted = 0 and expires_at_ms > ? order by response_number desc limit 1`;
  const inConversation = `select conversations.id as id, body from conversation_items join conversations on conversations.number = conversation_number
    where item_key = ? and user_name = ? and expires_at_ms > ? order by conversation_number desc limit 1`;
  /** A part that has several of the items is read, and sent to the other thread, once. */
  const parts = new Map<string, Uint8Array<ArrayBuffer>>();
  const found: FoundItem[] = [];
  let bytes = 0;
  for (const key of keys) {
    if (bytes > bytesMax) break;
    const row = await database.first(inResponse, key, userName, nowMs);
    if (row === undefined) {
      const item = await database.first(inConversation, key, userName, nowMs);
      if (item === undefined) continue;
      const sealed = readBytes(item, 'body');
      bytes += sealed.length;
      found.push({ key, holderId: readText(item, 'id'), part: 'item', sealed });
      continue;
    }
    const part = readText(row, 'part') === 'input' ? 'input' : 'output';
    const place = `${part} ${String(row['number'])}`;
    let sealed = parts.get(place);
    if (sealed === undefined) {
      const holder = await database.first(`select ${part} as body from responses where number = ?`, row['number'] ?? null);
      if (holder === undefined) continue;
      sealed = readBytes(holder, 'body');
      parts.set(place, sealed);
      bytes += sealed.length;
    }
    found.push({ key, holderId: readText(row, 'id'), part, sealed });
  }
  return found;
}

async function sweep(
  database: Database,
  { nowMs, rowsMax }: Parameters<ConversationStoreOperations['sweepConversations']>[0],
): Promise<number> {
  return await database.transact(async (transaction) => {
    const responses = await sweepResponses(transaction, nowMs, rowsMax);
    return responses + (await sweepConversationObjects(transaction, nowMs, Math.max(0, rowsMax - responses)));
  });
}
