import { GatewayError } from '../inference/gateway-error.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
import { WorkSlices } from '../platform/yield-queue.ts';
import type { ConversationParts } from './conversation-parts.ts';
import { isStorableId } from './storable-id.ts';
import type { Conversations, ItemPage, PageQuery } from './response-store.ts';
import { readOpenedObject, readOpenedObjects } from './read-opened.ts';

type Turn = { readonly input: readonly JsonObject[]; readonly output: readonly JsonObject[] };

type StoredItems = Pick<Conversations, 'readChain' | 'listInputItems' | 'findItems'>;

/** The items of stored responses. */
export function createStoredItems(parts: ConversationParts): StoredItems {
  const { store, sealer, clock, limits } = parts;

  async function readTurns(userName: string, id: string): Promise<readonly Turn[] | undefined> {
    if (!isStorableId(id)) return undefined;
    const links = await store.readSealedChain({ userName, id, nowMs: clock.nowMs(), bytesMax: limits.historyBytesMax });
    if (links === undefined) return undefined;
    if (links === 'too-large') throw tooLarge('chain of responses');
    const turns: Turn[] = [];
    // A chain may have thousands of links; opening all at once would delay every other call.
    const work = new WorkSlices();
    for (const link of links) {
      if (work.isOver) await work.yield();
      const input = readOpenedObjects('input', await sealer.open(['input', userName, link.id], link.input));
      const output = readOpenedObjects('output', await sealer.open(['output', userName, link.id], link.output));
      turns.push({ input, output });
    }
    return turns;
  }

  return {
    readChain: async (userName, id) => (await readTurns(userName, id))?.flatMap(({ input, output }) => [...input, ...output]),
    listInputItems: async (userName, id, page) => {
      const turns = await readTurns(userName, id);
      if (turns === undefined) return undefined;
      const last = turns.length - 1;
      return cutPage(
        turns.flatMap(({ input, output }, index) => (index === last ? input : [...input, ...output])),
        page,
      );
    },
    findItems: async (userName, ids) => {
      const idsByKey = new Map(ids.map((id) => [sealer.itemKey(userName, id), id]));
      const query = { userName, keys: [...idsByKey.keys()], nowMs: clock.nowMs(), bytesMax: limits.historyBytesMax };
      const found = new Map<string, JsonObject>();
      /** Several items are often from one response. */
      const opened = new Map<string, readonly JsonObject[]>();
      const work = new WorkSlices();
      for (const { key, holderId, part, sealed } of await store.findSealedItems(query)) {
        if (work.isOver) await work.yield();
        const id = idsByKey.get(key);
        if (id === undefined) continue;
        const place = JSON.stringify(part === 'item' ? [part, holderId, key] : [part, holderId]);
        let items = opened.get(place);
        if (items === undefined) {
          items =
            part === 'item'
              ? [readOpenedObject('item', await sealer.open(['item', userName, holderId, key], sealed))]
              : readOpenedObjects(part, await sealer.open([part, userName, holderId], sealed));
          opened.set(place, items);
        }
        // The last item with this id counts.
        const item = items.findLast((each) => each['id'] === id);
        if (item !== undefined) found.set(id, item);
      }
      return found;
    },
  };
}

/** The items would take more memory than a request may, and no model reads as much. */
export function tooLarge(what: string): GatewayError {
  return new GatewayError('context_length_exceeded', `the ${what} is too large to be read at once`);
}

/** The page should begin after an unknown item. */
export function unknownCursor(id: string): GatewayError {
  return new GatewayError('invalid_value', `there is no item ${JSON.stringify(id.slice(0, 100))} in this list`, { param: 'after' });
}

function cutPage(items: readonly JsonObject[], { after, limit, order }: PageQuery): ItemPage {
  const ordered = order === 'asc' ? items : items.toReversed();
  const cursor = after === undefined ? -1 : ordered.findIndex((item) => item['id'] === after);
  if (after !== undefined && cursor < 0) throw unknownCursor(after);
  return { items: ordered.slice(cursor + 1, cursor + 1 + limit), hasMore: cursor + 1 + limit < ordered.length };
}
