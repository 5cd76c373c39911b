import type { OwnedRemoval } from '../../accounts/scoped-list.ts';
import type { ConversationLists, ConversationSummary, ResponseSummary } from '../../conversations/stored-lists.ts';
import type { FileLists } from '../../tools/file-search/file-lists.ts';
import { StoreError } from '../store-error.ts';
import { toStorableText } from '../storable-text.ts';
import { appendAudit } from './audit-operations.ts';
import { changeConversation } from './conversation-object-operations.ts';
import type { Database } from './database.ts';
import { eraseFile, fileColumns, decodeFile } from './file-operations.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import { deleteResponse } from './response-operations.ts';
import { scopedPage, when } from './scoped-list.ts';
import type { SqlParameter, SqlRow } from './sql-values.ts';
import { decodeStore, eraseVectorStore, storeColumns } from './vector-store-operations.ts';

const isText = (sql: string, value: string | undefined) => when(sql, value === undefined ? undefined : toStorableText(value));
/** The plus sign keeps the engine from reading by expiry, which would sort every living row for each page. */
const living = '+expires_at_ms > ?';
const responseColumns = `id, user_name, key_id, created_at_ms, expires_at_ms, status, lease_until_ms, previous_id, conversation_id, followers,
  item_bytes + length(head) as bytes`;
const conversationColumns =
  'id, user_name, created_at_ms, kept_ms, expires_at_ms, items, next_position, item_bytes + length(head) as bytes';

/** The SQL of lists of stored objects over several users, and of their deletion by an operator. */
export function createStoredListOperations(database: Database): ConversationLists & FileLists {
  return {
    queryResponses: async (query) => {
      const { id, keyId, statuses = [], previousResponseId, conversationId, nowMs } = query;
      const shown = "case when status in ('queued', 'in_progress') and lease_until_ms <= ? then 'failed' else status end";
      const page = scopedPage(query, 'id', [
        isText('id = ?', id),
        isText('key_id = ?', keyId),
        isText('previous_id = ?', previousResponseId),
        isText('conversation_id = ?', conversationId),
        statuses.length === 0
          ? undefined
          : { sql: `${shown} in (${statuses.map(() => '?').join(', ')})`, parameters: [nowMs, ...statuses] },
        { sql: `deleted = 0 and ${living}`, parameters: [nowMs] },
      ]);
      return (await readAll(database, responseColumns, 'responses', page)).map((row) => decodeResponseSummary(row, nowMs));
    },
    queryConversations: async (query) => {
      const page = scopedPage(query, 'id', [isText('id = ?', query.id), { sql: living, parameters: [query.nowMs] }]);
      return (await readAll(database, conversationColumns, 'conversations', page)).map(decodeConversationSummary);
    },
    queryFiles: async (query) => {
      const { id, purpose, storeId, nowMs } = query;
      const page = scopedPage(query, 'id', [
        isText('id = ?', id),
        isText('purpose = ?', purpose),
        isText('exists (select 1 from store_files where store_id = ? and file_id = files.id)', storeId),
        { sql: 'is_finished = 1 and (expires_at_ms is null or +expires_at_ms > ?)', parameters: [nowMs] },
      ]);
      return (await readAll(database, fileColumns, 'files', page)).map(decodeFile);
    },
    queryVectorStores: async (query) => {
      const page = scopedPage(query, 'id', [isText('id = ?', query.id)]);
      const rows = await readAll(database, storeColumns, 'vector_stores', page);
      const stores = [];
      for (const row of rows) stores.push(await decodeStore(database, row));
      return stores;
    },
    ...createRemovals(database),
  };
}

function createRemovals(
  database: Database,
): Pick<ConversationLists & FileLists, 'removeResponse' | 'removeConversation' | 'removeFile' | 'removeVectorStore'> {
  return {
    removeResponse: async (removal) => {
      const { userName, id, nowMs } = removal;
      const find = `select ${responseColumns} from responses where user_name = ? and id = ? and deleted = 0 and expires_at_ms > ?`;
      const isRemoved = await remove(database, removal, {
        what: 'response',
        find: (transaction) => transaction.first(find, ...keysOf(removal), nowMs),
        versionOf: (row) => decodeResponseSummary(row, nowMs).version,
        erase: (transaction) => deleteResponse(transaction, { type: 'delete-response', userName, id, nowMs }),
      });
      if (isRemoved) await database.forgetErased();
      return isRemoved;
    },
    removeConversation: async (removal) => {
      const { userName, id, nowMs } = removal;
      const find = `select ${conversationColumns} from conversations where user_name = ? and id = ? and expires_at_ms > ?`;
      const isRemoved = await remove(database, removal, {
        what: 'conversation',
        find: (transaction) => transaction.first(find, ...keysOf(removal), nowMs),
        versionOf: (row) => decodeConversationSummary(row).version,
        erase: (transaction) => changeConversation(transaction, { type: 'delete-conversation', userName, id, nowMs }),
      });
      if (isRemoved) await database.forgetErased();
      return isRemoved;
    },
    removeFile: (removal) =>
      remove(database, removal, {
        what: 'file',
        find: (transaction) =>
          transaction.first(`select ${fileColumns} from files where user_name = ? and id = ? and is_finished = 1`, ...keysOf(removal)),
        versionOf: () => 1,
        erase: (transaction) => eraseFile(transaction, removal.id),
      }),
    removeVectorStore: (removal) =>
      remove(database, removal, {
        what: 'vector_store',
        find: (transaction) =>
          transaction.first(`select ${storeColumns} from vector_stores where user_name = ? and id = ?`, ...keysOf(removal)),
        versionOf: (row) => readInteger(row, 'last_active_at_ms'),
        erase: (transaction) => eraseVectorStore(transaction, removal.id),
      }),
  };
}

const keysOf = ({ userName, id }: OwnedRemoval): readonly [string, string] => [toStorableText(userName), toStorableText(id)];

/** Deletes an object of a user in one transaction with the row of the audit log; false if there is none. */
function remove(
  database: Database,
  { userName, id, version, change }: OwnedRemoval,
  kind: {
    readonly what: 'response' | 'conversation' | 'file' | 'vector_store';
    readonly find: (transaction: Database) => Promise<SqlRow | undefined>;
    readonly versionOf: (row: SqlRow) => number;
    readonly erase: (transaction: Database) => Promise<unknown>;
  },
): Promise<boolean> {
  return database.transact(async (transaction) => {
    const row = await kind.find(transaction);
    if (row === undefined) return false;
    const subject = `${kind.what}:${id}`;
    if (version !== undefined && kind.versionOf(row) !== version)
      throw new StoreError('version-mismatch', `${subject} has changed since the author of this change saw it.`);
    await kind.erase(transaction);
    const before = JSON.stringify({ user: userName, created_at_ms: readInteger(row, 'created_at_ms') });
    await appendAudit(transaction, change, { action: `${kind.what}s.delete`, subject, before });
    return true;
  });
}

async function readAll(
  database: Database,
  columns: string,
  table: string,
  page: { readonly where: string; readonly parameters: readonly SqlParameter[] } | undefined,
): Promise<readonly SqlRow[]> {
  if (page === undefined) return [];
  return await database.all(`select ${columns} from ${table} ${page.where}`, ...page.parameters);
}

function decodeResponseSummary(row: SqlRow, nowMs: number): ResponseSummary {
  const previousResponseId = readOptionalText(row, 'previous_id');
  const conversationId = readOptionalText(row, 'conversation_id');
  const leaseUntilMs = readOptionalInteger(row, 'lease_until_ms');
  const stored = readText(row, 'status') as ResponseSummary['status'];
  const isOpen = stored === 'queued' || stored === 'in_progress';
  const status = isOpen && leaseUntilMs !== undefined && leaseUntilMs <= nowMs ? 'failed' : stored;
  return {
    id: readText(row, 'id'),
    userName: readText(row, 'user_name'),
    keyId: readText(row, 'key_id'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    expiresAtMs: readInteger(row, 'expires_at_ms'),
    status,
    ...(previousResponseId === undefined ? {} : { previousResponseId }),
    ...(conversationId === undefined ? {} : { conversationId }),
    followers: readInteger(row, 'followers'),
    bytes: readInteger(row, 'bytes'),
    version: status === 'queued' ? 1 : status === 'in_progress' ? 2 : 3,
  };
}

function decodeConversationSummary(row: SqlRow): ConversationSummary {
  const items = readInteger(row, 'items');
  const isKept = readOptionalInteger(row, 'kept_ms') === undefined;
  return {
    id: readText(row, 'id'),
    userName: readText(row, 'user_name'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    ...(isKept ? {} : { expiresAtMs: readInteger(row, 'expires_at_ms') }),
    items,
    bytes: readInteger(row, 'bytes'),
    // Positions are never used again: each added item and each deleted one adds 1.
    version: 2 * readInteger(row, 'next_position') - items + 1,
  };
}
