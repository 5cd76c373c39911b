/**
 * A queue from which items may also be removed before they are first. It replaces a Set, which leaves garbage behind
 * (see slot-table.ts): slots are reused, and the array is reallocated only to grow.
 */
export type RingQueue<Item> = {
  /** Puts an item last and returns its place. */
  readonly add: (item: Item) => number;
  /** Removes the item at a place. Does nothing if it was removed before. */
  readonly remove: (place: number) => void;
  readonly size: () => number;
  /** The items, oldest first. They may be removed during the iteration. */
  readonly values: () => Generator<Item, void, undefined>;
};

const firstPlaces = 1024;

export function createRingQueue<Item extends object>(): RingQueue<Item> {
  let items: (Item | undefined)[] = Array.from({ length: firstPlaces }, () => undefined);
  /** Places only grow; an item is stored at its place modulo the length. */
  let first = 0;
  let next = 0;
  let size = 0;
  const grow = (): void => {
    const old = items;
    items = Array.from({ length: old.length * 2 }, () => undefined);
    for (let place = first; place < next; place++) items[place & (items.length - 1)] = old[place & (old.length - 1)];
  };
  return {
    add: (item) => {
      if (next - first === items.length) grow();
      items[next & (items.length - 1)] = item;
      size += 1;
      return next++;
    },
    remove: (place) => {
      const at = place & (items.length - 1);
      if (place < first || place >= next || items[at] === undefined) return;
      items[at] = undefined;
      size -= 1;
      while (first < next && items[first & (items.length - 1)] === undefined) first += 1;
    },
    size: () => size,
    *values() {
      for (let place = first; place < next; place++) {
        const item = items[place & (items.length - 1)];
        if (item !== undefined) yield item;
      }
    },
  };
}
