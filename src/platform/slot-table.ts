/**
 * A map from strings to objects that are added and removed thousands of times per second. A Map under this load is
 * rehashed again and again, and each old table keeps its objects until the next full collection (see slot-list.ts).
 * This one clears its slots and is reallocated only to grow.
 */
export type SlotTable<Item> = {
  readonly get: (key: string) => Item | undefined;
  /** Puts an item under a key, in the place of one that is there. */
  readonly set: (key: string, item: Item) => void;
  /** Takes an item out and returns it. */
  readonly take: (key: string) => Item | undefined;
  readonly size: () => number;
  /** Calls `visit` for every item, in no order. Items must not be added or removed meanwhile. */
  readonly forEach: (visit: (item: Item, key: string) => void) => void;
};

const firstPlaces = 1024;

/** Last characters of a key that are hashed. In the gateway's ids they are random, and no client can choose them. */
const hashedCharacters = 8;

/** FNV-1a of the end of a key. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, key.length - hashedCharacters); at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  // The low bits of the product depend on the fewest bits of the key.
  return (hash ^ (hash >>> 15)) >>> 0;
}

export function createSlotTable<Item extends object>(): SlotTable<Item> {
  let keys: (string | undefined)[] = [];
  let items: (Item | undefined)[] = [];
  let size = 0;
  const grow = (places: number): void => {
    const [oldKeys, oldItems] = [keys, items];
    keys = Array.from({ length: places }, () => undefined);
    items = Array.from({ length: places }, () => undefined);
    for (const [place, key] of oldKeys.entries()) {
      if (key === undefined) continue;
      const found = find(key);
      keys[found] = key;
      items[found] = oldItems[place];
    }
  };
  /** The place of a key, or the free one where it would be. At most half of the places are taken. */
  const find = (key: string): number => {
    const mask = keys.length - 1;
    let place = hashOf(key) & mask;
    while (keys[place] !== undefined && keys[place] !== key) place = (place + 1) & mask;
    return place;
  };
  /**
   * Moves entries back that were stored further on because this slot was occupied, so that no search ends too early.
   */
  const close = (freed: number): void => {
    const mask = keys.length - 1;
    let free = freed;
    for (let place = (free + 1) & mask; ; place = (place + 1) & mask) {
      const key = keys[place];
      if (key === undefined) break;
      const distance = (place - (hashOf(key) & mask)) & mask;
      if (distance < ((place - free) & mask)) continue;
      keys[free] = key;
      items[free] = items[place];
      free = place;
    }
    keys[free] = undefined;
    items[free] = undefined;
  };
  grow(firstPlaces);
  return {
    get: (key) => items[find(key)],
    set: (key, item) => {
      if (size * 2 >= keys.length) grow(keys.length * 2);
      const place = find(key);
      if (keys[place] === undefined) size += 1;
      keys[place] = key;
      items[place] = item;
    },
    take: (key) => {
      const place = find(key);
      const item = items[place];
      if (item === undefined) return undefined;
      size -= 1;
      close(place);
      return item;
    },
    size: () => size,
    forEach: (visit) => {
      for (const [place, item] of items.entries()) {
        const key = keys[place];
        if (item !== undefined && key !== undefined) visit(item, key);
      }
    },
  };
}
