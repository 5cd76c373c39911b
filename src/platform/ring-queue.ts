/**
 * A queue out of which items may also leave before their turn. It does what a Set does and leaves nothing behind (see slot-table.ts): places are used
 * again, and it makes itself new only in order to grow.
 */
export type RingQueue<Item> = {
  /** Puts an item last and returns its place. */
  readonly add: (item: Item) => number;
  /** Takes the item out that is at a place. Harmless when it has left. */
  readonly remove: (place: number) => void;
  readonly size: () => number;
  /** The items, oldest first. They may leave meanwhile. */
  readonly values: () => Generator<Item, void, undefined>;
};

const firstPlaces = 1024;

export function createRingQueue<Item extends object>(): RingQueue<Item> {
  let items: (Item | undefined)[] = Array.from({ length: firstPlaces }, () => undefined);
  /** Places count up for ever; an item lies at its place modulo the length. */
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
