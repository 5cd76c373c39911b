import { GatewayError } from '../inference/gateway-error.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
import { writeJson } from '../platform/json/write-json.ts';
import { WorkSlices } from '../platform/yield-queue.ts';
import type { SealedItem } from './conversation-store.ts';
import type { ConversationParts } from './conversation-parts.ts';
import { isStorableId, requireStorableId } from './storable-id.ts';
import { tooLarge, unknownCursor } from './stored-items.ts';
import type { Conversation, Conversations, ItemPage } from './response-store.ts';
import { readOpenedObject } from './read-opened.ts';

type Listed = { readonly after?: string; readonly limit: number; readonly order: 'asc' | 'desc' };

type ConversationObjects = Omit<
  Conversations,
  | 'saveResponse'
  | 'findResponse'
  | 'deleteResponse'
  | 'extendLease'
  | 'appendEvents'
  | 'readEvents'
  | 'readChain'
  | 'listInputItems'
  | 'findItems'
>;

/** Conversation objects and their items. Each item is sealed separately. */
export function createConversationObjects(parts: ConversationParts): ConversationObjects {
  const { store, write, sealer, clock, limits } = parts;
  const named = (userName: string, id: string) => ({ userName, id, nowMs: clock.nowMs() });
  const sealItem = (userName: string, id: string, item: JsonObject) => sealConversationItem(parts, userName, id, item);
  const openItem = (userName: string, id: string, item: SealedItem) => openConversationItem(parts, userName, id, item);

  async function list(userName: string, id: string, { after, limit, order }: Listed): Promise<ItemPage | undefined> {
    if (!isStorableId(id)) return undefined;
    const cursor = after === undefined ? {} : { after: sealer.itemKey(userName, after) };
    const page = await store.listSealedItems({ ...named(userName, id), ...cursor, limit, order, bytesMax: limits.historyBytesMax });
    if (page === undefined) return undefined;
    if (page === 'bad-cursor') throw unknownCursor(after ?? '');
    if (page === 'too-large') throw tooLarge('conversation');
    return { items: await inTurns(page.items, (item) => openItem(userName, id, item)), hasMore: page.hasMore };
  }

  async function find(userName: string, id: string): Promise<Conversation | undefined> {
    if (!isStorableId(id)) return undefined;
    const row = await store.findSealedConversation(named(userName, id));
    if (row === undefined) return undefined;
    const { head, ...clear } = row;
    return { ...clear, metadata: readOpenedObject('conversation', await sealer.open(['conversation', userName, id], head)) };
  }

  return {
    createConversation: async ({ metadata, ...clear }, items) => {
      const { userName, id } = clear;
      requireStorableId(id);
      if (items.length > limits.conversationItemsMax) throw tooManyItems(limits.conversationItemsMax);
      const head = await sealer.seal(['conversation', userName, id], JSON.stringify(metadata));
      const sealed = await Promise.all(items.map((item) => sealItem(userName, id, item)));
      const outcome = await write({ type: 'put-conversation', conversation: { ...clear, head }, items: sealed });
      if (outcome !== 'done') throw new Error(`The conversation ${id} could not be created: ${outcome}.`);
    },
    findConversation: find,
    updateConversation: async (userName, id, metadata) => {
      if (!isStorableId(id)) return undefined;
      const head = await sealer.seal(['conversation', userName, id], JSON.stringify(metadata));
      await write({ type: 'update-conversation', ...named(userName, id), head });
      return await find(userName, id);
    },
    deleteConversation: async (userName, id) =>
      isStorableId(id) && (await write({ type: 'delete-conversation', ...named(userName, id) })) === 'done',
    appendItems: async (userName, id, items) => {
      if (!isStorableId(id)) return false;
      const sealed = await Promise.all(items.map((item) => sealItem(userName, id, item)));
      const itemsMax = limits.conversationItemsMax;
      const outcome = await write({ type: 'append-items', ...named(userName, id), items: sealed, itemsMax });
      if (outcome === 'refused') throw tooManyItems(itemsMax);
      return outcome === 'done';
    },
    readConversation: async (userName, id) => (await list(userName, id, { limit: limits.conversationItemsMax, order: 'asc' }))?.items,
    listConversationItems: list,
    findConversationItem: async (userName, id, itemId) => {
      if (!isStorableId(id)) return undefined;
      const item = await store.findSealedItem({ ...named(userName, id), key: sealer.itemKey(userName, itemId) });
      return item === undefined ? undefined : await openItem(userName, id, item);
    },
    deleteConversationItem: async (userName, id, itemId) => {
      const key = sealer.itemKey(userName, itemId);
      return isStorableId(id) && (await write({ type: 'delete-item', ...named(userName, id), key })) === 'done';
    },
    lockConversation: async (userName, id, holder, untilMs) => {
      if (!isStorableId(id)) return undefined;
      return wordLock(await write({ type: 'lock-conversation', ...named(userName, id), holder, untilMs }));
    },
    unlockConversation: async (userName, id, holder) => {
      if (isStorableId(id)) await write({ type: 'unlock-conversation', ...named(userName, id), holder });
    },
  };
}

/** Opens items one by one and yields between them, because thousands at once would delay every other call. */
async function inTurns(items: readonly SealedItem[], open: (item: SealedItem) => Promise<JsonObject>): Promise<readonly JsonObject[]> {
  const work = new WorkSlices();
  const opened: JsonObject[] = [];
  for (const item of items) {
    if (work.isOver) await work.yield();
    opened.push(await open(item));
  }
  return opened;
}

async function sealConversationItem({ sealer }: ConversationParts, userName: string, id: string, item: JsonObject): Promise<SealedItem> {
  if (typeof item['id'] !== 'string') throw new TypeError('An item of a conversation must have an id.');
  const key = sealer.itemKey(userName, item['id']);
  return { key, sealed: await sealer.seal(['item', userName, id, key], await writeJson(item)) };
}

async function openConversationItem(
  { sealer }: ConversationParts,
  userName: string,
  id: string,
  { key, sealed }: SealedItem,
): Promise<JsonObject> {
  return readOpenedObject('item', await sealer.open(['item', userName, id, key], sealed));
}

function wordLock(outcome: 'done' | 'refused' | 'unknown'): boolean | undefined {
  return outcome === 'unknown' ? undefined : outcome === 'done';
}

function tooManyItems(itemsMax: number): GatewayError {
  return new GatewayError('invalid_value', `a conversation holds at most ${itemsMax} items; create another one`, { param: 'items' });
}
