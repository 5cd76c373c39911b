import type { Json, VendorMemory } from './simulated-vendor.ts';

const entriesMax = 10_000;

/** A bounded store: when it is full, the oldest entry is forgotten first. */
export function createVendorMemory(): VendorMemory & { readonly clear: () => void } {
  const entries = new Map<string, Json>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > entriesMax) entries.delete(entries.keys().next().value ?? key);
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}

/**
 * A view of a memory that reads through and delays writes until `keep`, so that a call without an answer leaves no
 * trace.
 */
export function createPendingMemory(memory: VendorMemory): VendorMemory & { readonly keep: () => void } {
  const changes = new Map<string, Json | undefined>();
  return {
    get: (key) => (changes.has(key) ? changes.get(key) : memory.get(key)),
    set: (key, value) => void changes.set(key, value),
    delete: (key) => void changes.set(key, undefined),
    keep() {
      for (const [key, value] of changes) {
        if (value === undefined) memory.delete(key);
        else memory.set(key, value);
      }
      changes.clear();
    },
  };
}
