/**
 * A bag for objects that come and go by the thousands per second. A Set would do, but every rehash of a Set leaves an old table behind that
 * still points to the new one and, through it, to what it held: once promoted, such a chain keeps every object that ever passed alive until the next full
 * collection. Measured on the gateway: 10 KB a call, and pauses of 10 ms instead of 0.5 ms.
 */
export type SlotList<Item> = {
  /** Puts an item in and returns its slot. */
  readonly add: (item: Item) => number;
  /** Empties a slot. A slot must be emptied once. */
  readonly remove: (slot: number) => void;
  readonly size: () => number;
  /** Calls `visit` for every item; items may leave meanwhile, and those that come meanwhile may be missed. */
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
