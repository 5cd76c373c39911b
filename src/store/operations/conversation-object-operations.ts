import type {
  ConversationWrite,
  SealedConversation,
  SealedItem,
  SealedPage,
  WriteOutcome,
} from '../../conversations/conversation-store.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readBytes, readInteger, readOptionalInteger, readText } from './read-column.ts';
import type { ConversationStoreOperations } from '../worker/store-protocol.ts';

type PutConversation = Extract<ConversationWrite, { type: 'put-conversation' }>;
type Change = Exclude<ConversationWrite, PutConversation | { type: `${string}-response` | 'extend-lease' | 'append-events' }>;

/** The expiry of a conversation that is kept until it is deleted. */
const never = Number.MAX_SAFE_INTEGER;
const living = 'user_name = ? and id = ? and expires_at_ms > ?';

export async function putConversation(database: Database, { conversation, items }: PutConversation): Promise<WriteOutcome> {
  const { userName, id, createdAtMs, keptMs, head } = conversation;
  const sql = `insert into conversations (user_name, id, created_at_ms, kept_ms, expires_at_ms, head) values (?, ?, ?, ?, ?, ?)
    on conflict (user_name, id) do nothing returning number`;
  const expiresAtMs = keptMs === undefined ? never : createdAtMs + keptMs;
  const row = await database.first(sql, userName, id, createdAtMs, keptMs ?? null, expiresAtMs, head);
  if (row === undefined) return 'refused';
  return await appendItems(database, readInteger(row, 'number'), items, never);
}

/** Applies one change to an existing conversation. */
export async function changeConversation(database: Database, write: Change): Promise<WriteOutcome> {
  const { userName, id, nowMs } = write;
  const row = await database.first(`select number, lock_holder, lock_until_ms from conversations where ${living}`, userName, id, nowMs);
  if (row === undefined) return 'unknown';
  const number = readInteger(row, 'number');
  const done = (changes: number): WriteOutcome => (changes > 0 ? 'done' : 'unknown');
  switch (write.type) {
    case 'update-conversation':
      await touch(database, number, nowMs);
      return done(await database.run('update conversations set head = ? where number = ?', write.head, number));
    case 'delete-conversation':
      return done(await deleteConversation(database, number));
    case 'append-items':
      await touch(database, number, nowMs);
      return await appendItems(database, number, write.items, write.itemsMax);
    case 'delete-item':
      return done(await deleteItem(database, number, write.key));
    case 'lock-conversation': {
      const sql = `update conversations set lock_holder = ?, lock_until_ms = ?
        where number = ? and (lock_holder is null or lock_holder = ? or lock_until_ms <= ?)`;
      return (await database.run(sql, write.holder, write.untilMs, number, write.holder, nowMs)) > 0 ? 'done' : 'refused';
    }
    case 'unlock-conversation':
      return done(
        await database.run('update conversations set lock_holder = null where number = ? and lock_holder = ?', number, write.holder),
      );
  }
}

/** Restarts the time for which a conversation is kept. */
async function touch(database: Database, number: number, nowMs: number): Promise<void> {
  await database.run('update conversations set expires_at_ms = ? + kept_ms where number = ? and kept_ms is not null', nowMs, number);
}

async function appendItems(database: Database, number: number, items: readonly SealedItem[], itemsMax: number): Promise<WriteOutcome> {
  const conversation = await database.first('select items, next_position from conversations where number = ?', number);
  if (conversation === undefined) return 'unknown';
  const first = readInteger(conversation, 'next_position');
  let added = 0;
  let bytes = 0;
  for (const { key, sealed } of items) {
    const sql = `insert into conversation_items (conversation_number, position, item_key, body) values (?, ?, ?, ?)
      on conflict (item_key, conversation_number) do nothing`;
    const inserted = await database.run(sql, number, first + added, key, sealed);
    added += inserted;
    bytes += inserted * sealed.length;
  }
  if (readInteger(conversation, 'items') + added > itemsMax) {
    // All or nothing: removes the items that were added.
    await database.run('delete from conversation_items where conversation_number = ? and position >= ?', number, first);
    return 'refused';
  }
  await database.run(
    'update conversations set items = items + ?, next_position = next_position + ?, item_bytes = item_bytes + ? where number = ?',
    added,
    added,
    bytes,
    number,
  );
  return 'done';
}

async function deleteItem(database: Database, number: number, key: string): Promise<number> {
  const sql = 'delete from conversation_items where item_key = ? and conversation_number = ? returning length(body) as bytes';
  const deleted = await database.first(sql, key, number);
  if (deleted === undefined) return 0;
  const change = 'update conversations set items = items - 1, item_bytes = item_bytes - ? where number = ?';
  return await database.run(change, readInteger(deleted, 'bytes'), number);
}

async function deleteConversation(database: Database, number: number): Promise<number> {
  await database.run('delete from conversation_items where conversation_number = ?', number);
  return await database.run('delete from conversations where number = ?', number);
}

export async function sweepConversationObjects(database: Database, nowMs: number, rowsMax: number): Promise<number> {
  const expired = await database.all('select number from conversations where expires_at_ms <= ? limit ?', nowMs, rowsMax);
  for (const row of expired) await deleteConversation(database, readInteger(row, 'number'));
  return expired.length;
}

type ConversationReading = Pick<ConversationStoreOperations, 'findSealedConversation' | 'listSealedItems' | 'findSealedItem'>;

export function createConversationReading(database: Database): ConversationReading {
  return {
    findSealedConversation: async ({ userName, id, nowMs }) => {
      const sql = `select id, user_name, created_at_ms, kept_ms, head from conversations where ${living}`;
      const row = await database.first(sql, userName, id, nowMs);
      return row === undefined ? undefined : decodeConversation(row);
    },
    listSealedItems: (query) => listItems(database, query),
    findSealedItem: async ({ userName, id, nowMs, key }) => {
      const sql = `select item_key, body from conversation_items join conversations on conversations.number = conversation_number
        where item_key = ? and ${living}`;
      const row = await database.first(sql, key, userName, id, nowMs);
      return row === undefined ? undefined : decodeItem(row);
    },
  };
}

async function listItems(
  database: Database,
  { userName, id, nowMs, after, limit, order, bytesMax }: Parameters<ConversationStoreOperations['listSealedItems']>[0],
): Promise<SealedPage | 'bad-cursor' | 'too-large' | undefined> {
  const row = await database.first(`select number from conversations where ${living}`, userName, id, nowMs);
  if (row === undefined) return undefined;
  const number = readInteger(row, 'number');
  let cursor = order === 'asc' ? -1 : never;
  if (after !== undefined) {
    const sql = 'select position from conversation_items where item_key = ? and conversation_number = ?';
    const found = await database.first(sql, after, number);
    if (found === undefined) return 'bad-cursor';
    cursor = readInteger(found, 'position');
  }
  const range = order === 'asc' ? 'position > ? order by position' : 'position < ? order by position desc';
  const from = `from conversation_items where conversation_number = ? and ${range} limit ?`;
  // Reads the lengths without the bodies.
  const lengths = await database.all(`select length(body) as bytes ${from}`, number, cursor, limit + 1);
  const bytes = lengths.slice(0, limit).reduce((sum, each) => sum + readInteger(each, 'bytes'), 0);
  if (bytes > bytesMax) return 'too-large';
  const items = (await database.all(`select item_key, body ${from}`, number, cursor, limit)).map(decodeItem);
  return { items, hasMore: lengths.length > items.length };
}

function decodeItem(row: SqlRow): SealedItem {
  return { key: readText(row, 'item_key'), sealed: readBytes(row, 'body') };
}

function decodeConversation(row: SqlRow): SealedConversation {
  const keptMs = readOptionalInteger(row, 'kept_ms');
  return {
    id: readText(row, 'id'),
    userName: readText(row, 'user_name'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    ...(keptMs === undefined ? {} : { keptMs }),
    head: readBytes(row, 'head'),
  };
}
