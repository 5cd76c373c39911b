import type { ConversationStore, ConversationWrite, ItemPlace, SealedResponse, WriteOutcome } from '../conversation-store.ts';
import { createFakeSealedConversations } from './fake-sealed-conversations.ts';

type Row = {
  response: SealedResponse;
  readonly order: number;
  readonly previous: Row | undefined;
  items: readonly ItemPlace[];
  deleted: boolean;
  /** Number of rows whose predecessor is this row. */
  followers: number;
  readonly events: Map<number, { readonly count: number; readonly sealed: Uint8Array<ArrayBuffer> }>;
};

type ResponseWrite = Extract<ConversationWrite, { type: `${string}-response` | 'extend-lease' | 'append-events' }>;

const ended = (row: Row): boolean => row.response.status !== 'queued' && row.response.status !== 'in_progress';
const name = (userName: string, id: string): string => JSON.stringify([userName, id]);

/** A store in memory for tests, with the same contract as the engines. */
export function createFakeConversationStore(): ConversationStore {
  const rows: Rows = new Map();
  const conversations = createFakeSealedConversations();
  const { write, forget, removeUnneeded } = createResponseWrites(rows);
  return {
    ...conversations.reading,
    writeConversations: async (writes) => writes.map((each) => (isResponseWrite(each) ? write(each) : conversations.write(each))),
    findSealedResponse: async (query) => find(rows, query)?.response,
    readSealedChain: async (query) => {
      const links: SealedResponse[] = [];
      for (let row = find(rows, query); row !== undefined; row = row.previous) links.unshift(row.response);
      const bytes = links.reduce((sum, { input, output }) => sum + input.length + output.length, 0);
      return links.length === 0 ? undefined : bytes > query.bytesMax ? 'too-large' : links;
    },
    findSealedItems: async ({ userName, keys, nowMs }) =>
      keys.flatMap((key) => {
        const holders = [...rows.values()].filter((row) => find(rows, { ...row.response, userName, nowMs }) === row);
        const holder = holders
          .toSorted((left, right) => right.order - left.order)
          .find(({ items }) => items.some((item) => item.key === key));
        const part = holder?.items.find((item) => item.key === key)?.part;
        if (holder === undefined || part === undefined) return conversations.findItem(userName, key, nowMs);
        return [{ key, holderId: holder.response.id, part, sealed: holder.response[part] }];
      }),
    readSealedEvents: async (query) => {
      const batches = [...(find(rows, query)?.events ?? [])].toSorted(([left], [right]) => left - right);
      const wanted = batches.filter(([first, { count }]) => first + count - 1 > query.after);
      return wanted.slice(0, query.limit).map(([firstSequence, { sealed }]) => ({ firstSequence, sealed }));
    },
    sweepConversations: async ({ nowMs, rowsMax }) => {
      const expired = [...rows.values()].filter((row) => row.response.expiresAtMs <= nowMs).slice(0, rowsMax);
      for (const row of expired) {
        forget(row, Infinity);
        removeUnneeded(row);
      }
      return expired.length + conversations.sweep(nowMs, rowsMax - expired.length);
    },
  };
}

type Rows = Map<string, Row>;

function find(rows: Rows, query: { readonly userName: string; readonly id: string; readonly nowMs: number }): Row | undefined {
  const row = rows.get(name(query.userName, query.id));
  return row === undefined || row.deleted || row.response.expiresAtMs <= query.nowMs ? undefined : row;
}

function createResponseWrites(rows: Rows) {
  let order = 0;

  function put({ response, items }: Extract<ConversationWrite, { type: 'put-response' }>): WriteOutcome {
    const key = name(response.userName, response.id);
    const known = rows.get(key);
    if (known !== undefined) {
      if (known.deleted || ended(known)) return 'refused';
      Object.assign(known, { response, items });
      return 'done';
    }
    const previous = response.previousResponseId === undefined ? undefined : rows.get(name(response.userName, response.previousResponseId));
    if (previous !== undefined) previous.followers += 1;
    rows.set(key, { response, order: (order += 1), previous, items, deleted: false, followers: 0, events: new Map() });
    return 'done';
  }

  function forget(row: Row, untilMs: number): void {
    row.deleted = true;
    row.items = [];
    row.events.clear();
    row.response = { ...row.response, expiresAtMs: untilMs };
  }

  function drop(row: Row, nowMs: number): void {
    // The id of a deleted response that is still being generated stays for a while, so that its end does not restore
    // it.
    forget(row, ended(row) ? Infinity : nowMs + 86_400_000);
    if (ended(row)) removeUnneeded(row);
  }

  function removeUnneeded(row: Row): void {
    for (let unneeded: Row | undefined = row; unneeded?.deleted === true && unneeded.followers === 0; unneeded = unneeded.previous) {
      rows.delete(name(unneeded.response.userName, unneeded.response.id));
      if (unneeded.previous !== undefined) unneeded.previous.followers -= 1;
    }
  }

  function change(write: ResponseWrite): WriteOutcome {
    if (write.type === 'put-response') return put(write);
    const row = find(rows, write);
    if (row === undefined) return 'unknown';
    if (write.type === 'delete-response') drop(row, write.nowMs);
    else if (write.type === 'append-events') row.events.set(write.firstSequence, { count: write.count, sealed: write.sealed });
    else if (ended(row)) return 'unknown';
    else if (write.type === 'extend-lease') row.response = { ...row.response, leaseUntilMs: write.untilMs };
    else if (row.response.leaseUntilMs !== write.leaseUntilMs) return 'unknown';
    else row.response = { ...row.response, status: 'failed', head: write.head };
    return 'done';
  }

  return { write: change, forget, removeUnneeded };
}

function isResponseWrite(write: ConversationWrite): write is ResponseWrite {
  return write.type.endsWith('-response') || write.type === 'extend-lease' || write.type === 'append-events';
}
