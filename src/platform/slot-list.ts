/**
 * A collection for objects that are added and removed thousands of times per second. A Set would work, but each rehash
 * leaves an old table that still points to the new one. Once promoted, this chain keeps every object that was ever in
 * the Set alive until the next full collection. Measured on the gateway: 10 KB for each call, and pauses of 10 ms
 * instead of 0.5 ms.
 */
export type SlotList<Item> = {
  /** Puts an item in and returns its slot. */
  readonly add: (item: Item) => number;
  /** Empties a slot. A slot must be emptied once. */
  readonly remove: (slot: number) => void;
  readonly size: () => number;
  /** Calls `visit` for every item; items may be removed during the visit, and items added during it may be missed. */
  readonly forEach: (visit: (item: Item) => void) => void;
};

export function createSlotList<Item extends object>(): SlotList<Item> {
  const items: (Item | undefined)[] = [];
  const free: number[] = [];
  return {
    add: (item) => {
      const slot = free.pop() ?? items.length;
      items[slot] = item;
      return slot;
    },
    remove: (slot) => {
      items[slot] = undefined;
      free.push(slot);
    },
    size: () => items.length - free.length,
    forEach: (visit) => {
      for (const item of items) if (item !== undefined) visit(item);
    },
  };
}
