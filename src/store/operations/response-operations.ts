import type { ChainLink, ConversationWrite, SealedResponse, WriteOutcome } from '../../conversations/conversation-store.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readBytes, readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { ConversationStoreOperations } from '../worker/store-protocol.ts';

type Write<Type extends ConversationWrite['type']> = Extract<ConversationWrite, { type: Type }>;

/** The expiry of rows that exist only for later responses: they are removed with the last of those. */
const never = Number.MAX_SAFE_INTEGER;
/**
 * How long the id of a response is blocked that was deleted during its generation: longer than a generation can take.
 */
const deletedNameMs = 86_400_000;
/** The most predecessors that are removed together with a response; the sweeper removes the others. */
const removedAtOnceMax = 100;

const columns = `id, user_name, key_id, created_at_ms, expires_at_ms, status, previous_id, conversation_id, lease_until_ms, head, input, output`;
const living = 'user_name = ? and id = ? and deleted = 0 and expires_at_ms > ?';

export async function putResponse(database: Database, { response, items }: Write<'put-response'>): Promise<WriteOutcome> {
  const { userName, id, keyId, createdAtMs, expiresAtMs, status, leaseUntilMs, head, input, output } = response;
  const existing = await database.first('select number, deleted, status from responses where user_name = ? and id = ?', userName, id);
  const itemBytes = input.length + output.length;
  let number: number;
  if (existing !== undefined) {
    if (readInteger(existing, 'deleted') !== 0 || !isUnfinished(readText(existing, 'status'))) return 'refused';
    number = readInteger(existing, 'number');
    const sql = `update responses set key_id = ?, created_at_ms = ?, expires_at_ms = ?, status = ?, conversation_id = ?, lease_until_ms = ?, item_bytes = ?,
      head = ?, input = ?, output = ? where number = ?`;
    const conversationId = response.conversationId ?? null;
    const clear = [keyId, createdAtMs, expiresAtMs, status, conversationId, leaseUntilMs ?? null, itemBytes] as const;
    await database.run(sql, ...clear, head, input, output, number);
    await database.run('delete from response_items where response_number = ?', number);
  } else {
    number = await insertResponse(database, response, itemBytes);
  }
  for (const { key, part } of items) {
    await database.run('insert into response_items (item_key, response_number, part) values (?, ?, ?)', key, number, part);
  }
  return 'done';
}

async function insertResponse(database: Database, response: SealedResponse, itemBytes: number): Promise<number> {
  const { userName, id, keyId, createdAtMs, expiresAtMs, status, previousResponseId, conversationId, leaseUntilMs } = response;
  const previous =
    previousResponseId === undefined
      ? undefined
      : // A predecessor that was deleted since the response began still counts while its row exists.
        await database.first('select number from responses where user_name = ? and id = ?', userName, previousResponseId);
  const previousNumber = previous === undefined ? null : readInteger(previous, 'number');
  if (previousNumber !== null) await database.run('update responses set followers = followers + 1 where number = ?', previousNumber);
  const sql = `insert into responses (user_name, id, key_id, created_at_ms, expires_at_ms, status, previous_number, previous_id, conversation_id, lease_until_ms,
      item_bytes, head, input, output)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning number`;
  const inserted = await database.first(
    sql,
    userName,
    id,
    keyId,
    createdAtMs,
    expiresAtMs,
    status,
    previousNumber,
    previousResponseId ?? null,
    conversationId ?? null,
    leaseUntilMs ?? null,
    itemBytes,
    response.head,
    response.input,
    response.output,
  );
  return inserted === undefined ? 0 : readInteger(inserted, 'number');
}

export async function deleteResponse(database: Database, { userName, id, nowMs }: Write<'delete-response'>): Promise<WriteOutcome> {
  const row = await database.first(`select number, status from responses where ${living}`, userName, id, nowMs);
  if (row === undefined) return 'unknown';
  const number = readInteger(row, 'number');
  if (isUnfinished(readText(row, 'status'))) {
    // The id stays blocked for a time, so that the generation in progress does not store the response again.
    await hide(database, number, nowMs + deletedNameMs);
    await emptyUnneeded(database, number);
  } else {
    await hide(database, number, never);
    await removeUnneeded(database, number);
  }
  return 'done';
}

/** Hides a response, and deletes everything that only its own readers need. */
async function hide(database: Database, number: number, expiresAtMs: number): Promise<void> {
  const sql = 'update responses set deleted = 1, expires_at_ms = ?, head = ?, lease_until_ms = null where number = ?';
  await database.run(sql, expiresAtMs, new Uint8Array(0), number);
  await database.run('delete from response_items where response_number = ?', number);
  await database.run('delete from response_events where response_number = ?', number);
}

/** Deletes content and predecessor of a hidden response, unless a later one needs them. */
async function emptyUnneeded(database: Database, number: number): Promise<void> {
  const row = await database.first('select previous_number from responses where number = ? and followers = 0', number);
  if (row === undefined) return;
  const sql = 'update responses set input = ?, output = ?, item_bytes = 0, previous_number = null where number = ?';
  await database.run(sql, new Uint8Array(0), new Uint8Array(0), number);
  const previous = readOptionalInteger(row, 'previous_number');
  if (previous !== undefined) await release(database, previous);
}

/** Decrements the number of responses that continue this one. */
async function release(database: Database, number: number): Promise<void> {
  await database.run('update responses set followers = followers - 1 where number = ?', number);
  await removeUnneeded(database, number);
}

/**
 * Removes a hidden response that no later one needs, and then its hidden predecessors. Returns the number of removed
 * rows.
 */
async function removeUnneeded(database: Database, number: number): Promise<number> {
  let removed = 0;
  let next: number | undefined = number;
  while (next !== undefined) {
    const row = await database.first('select previous_number from responses where number = ? and deleted = 1 and followers = 0', next);
    if (row === undefined) break;
    if (removed === removedAtOnceMax) {
      await database.run('update responses set expires_at_ms = 0 where number = ?', next);
      break;
    }
    await database.run('delete from responses where number = ?', next);
    removed += 1;
    next = readOptionalInteger(row, 'previous_number');
    if (next !== undefined) await database.run('update responses set followers = followers - 1 where number = ?', next);
  }
  return removed;
}

/** Expired responses are removed in the same way as deleted ones. */
export async function sweepResponses(database: Database, nowMs: number, rowsMax: number): Promise<number> {
  let swept = 0;
  for (const row of await database.all(
    'select number from responses where expires_at_ms <= ? order by expires_at_ms limit ?',
    nowMs,
    rowsMax,
  )) {
    const number = readInteger(row, 'number');
    await hide(database, number, never);
    swept += Math.max(1, await removeUnneeded(database, number));
    if (swept >= rowsMax) break;
  }
  return swept;
}

export async function failResponse(
  database: Database,
  { userName, id, nowMs, leaseUntilMs, head }: Write<'fail-response'>,
): Promise<WriteOutcome> {
  const sql = `update responses set status = 'failed', lease_until_ms = null, head = ?
    where ${living} and status in ('queued', 'in_progress') and lease_until_ms = ?`;
  return (await database.run(sql, head, userName, id, nowMs, leaseUntilMs)) > 0 ? 'done' : 'unknown';
}

export async function extendLease(database: Database, { userName, id, nowMs, untilMs }: Write<'extend-lease'>): Promise<WriteOutcome> {
  const sql = `update responses set lease_until_ms = ? where ${living} and status in ('queued', 'in_progress')`;
  return (await database.run(sql, untilMs, userName, id, nowMs)) > 0 ? 'done' : 'unknown';
}

export async function appendEvents(database: Database, write: Write<'append-events'>): Promise<WriteOutcome> {
  const { userName, id, nowMs, firstSequence, count, sealed } = write;
  const sql = `insert into response_events (response_number, first_sequence, events, body) select number, ?, ?, ? from responses where ${living}
    on conflict (response_number, first_sequence) do update set events = excluded.events, body = excluded.body`;
  return (await database.run(sql, firstSequence, count, sealed, userName, id, nowMs)) > 0 ? 'done' : 'unknown';
}

type ResponseReading = Pick<ConversationStoreOperations, 'findSealedResponse' | 'readSealedChain' | 'readSealedEvents'>;

export function createResponseReading(database: Database): ResponseReading {
  return {
    findSealedResponse: async ({ userName, id, nowMs }) => {
      const row = await database.first(`select ${columns} from responses where ${living}`, userName, id, nowMs);
      return row === undefined ? undefined : decodeResponse(row);
    },
    readSealedChain: (query) => readChain(database, query),
    readSealedEvents: async ({ userName, id, nowMs, after, limit }) => {
      const row = await database.first(`select number from responses where ${living}`, userName, id, nowMs);
      if (row === undefined) return [];
      const number = readInteger(row, 'number');
      // Sequence numbers have no gaps: the requested number is in the last batch that begins at or before it.
      const begin = 'select max(first_sequence) as first from response_events where response_number = ? and first_sequence <= ?';
      const first = (await database.first(begin, number, after + 1))?.['first'];
      const sql = `select first_sequence, body from response_events where response_number = ? and first_sequence >= ? and first_sequence <= ?
        and first_sequence + events - 1 > ? order by first_sequence`;
      const batches = await database.all(sql, number, typeof first === 'bigint' ? first : after + 1, after + limit, after);
      return batches.map((found) => ({ firstSequence: readInteger(found, 'first_sequence'), sealed: readBytes(found, 'body') }));
    },
  };
}

/** Follows predecessors by primary key. Reads no body before the sum of the sizes is known to be within the limit. */
async function readChain(
  database: Database,
  { userName, id, nowMs, bytesMax }: Parameters<ConversationStoreOperations['readSealedChain']>[0],
): Promise<readonly ChainLink[] | 'too-large' | undefined> {
  const sql = `with recursive chain (number, previous_number, item_bytes, depth) as (
      select number, previous_number, item_bytes, 0 from responses where ${living}
      union all
      select earlier.number, earlier.previous_number, earlier.item_bytes, chain.depth + 1
      from chain join responses as earlier on earlier.number = chain.previous_number
    ) select number, item_bytes from chain order by depth desc`;
  const rows = await database.all(sql, userName, id, nowMs);
  if (rows.length === 0) return undefined;
  let bytes = 0;
  for (const row of rows) bytes += readInteger(row, 'item_bytes');
  if (bytes > bytesMax) return 'too-large';
  const links: ChainLink[] = [];
  for (const row of rows) {
    const link = await database.first('select id, input, output from responses where number = ?', readInteger(row, 'number'));
    if (link !== undefined) links.push({ id: readText(link, 'id'), input: readBytes(link, 'input'), output: readBytes(link, 'output') });
  }
  return links;
}

function decodeResponse(row: SqlRow): SealedResponse {
  const previousResponseId = readOptionalText(row, 'previous_id');
  const conversationId = readOptionalText(row, 'conversation_id');
  const leaseUntilMs = readOptionalInteger(row, 'lease_until_ms');
  return {
    id: readText(row, 'id'),
    userName: readText(row, 'user_name'),
    keyId: readText(row, 'key_id'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    expiresAtMs: readInteger(row, 'expires_at_ms'),
    status: readText(row, 'status') as SealedResponse['status'],
    ...(previousResponseId === undefined ? {} : { previousResponseId }),
    ...(conversationId === undefined ? {} : { conversationId }),
    ...(leaseUntilMs === undefined ? {} : { leaseUntilMs }),
    head: readBytes(row, 'head'),
    input: readBytes(row, 'input'),
    output: readBytes(row, 'output'),
  };
}

function isUnfinished(status: string): boolean {
  return status === 'queued' || status === 'in_progress';
}
