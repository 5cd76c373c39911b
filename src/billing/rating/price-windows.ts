import { modelSpellings } from './model-spellings.ts';
import type { PriceBookEntry } from './price-book-schema.ts';
import { type Pricing, preparePricing } from './pricing.ts';

/** The most models of a vendor whose windows are cached, listed or not. */
const foundMax = 1000;

/** The prices of a model from one day until another. */
type Window = {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Prices with a condition in the order of the file, then the one without. */
  readonly pricings: readonly Pricing[];
};

export type PriceWindows = {
  /** Whether the model has any window. */
  readonly lists: (vendor: string, model: string) => boolean;
  /** The prices of a model at a moment; undefined without a price. */
  readonly find: (vendor: string, model: string, atMs: number) => readonly Pricing[] | undefined;
};

/** Finds prices by vendor, model in all its spellings, and time. */
export function createPriceWindows(entries: readonly PriceBookEntry[]): PriceWindows {
  const windows = indexWindows(entries);
  /** By vendor and model. */
  const cached = new Map<string, Map<string, readonly Window[] | undefined>>();
  const windowsOf = (vendor: string, model: string): readonly Window[] | undefined => {
    const ofVendor = cached.getOrInsertComputed(vendor, () => new Map<string, readonly Window[] | undefined>());
    const remembered = ofVendor.get(model);
    if (remembered !== undefined || ofVendor.has(model)) return remembered;
    const found = modelSpellings(model)
      .map((spelling) => windows.get(windowKey(vendor, spelling)))
      .find((list) => list !== undefined);
    // Names of models come from clients: the limit keeps them from filling memory.
    if (ofVendor.size < foundMax) ofVendor.set(model, found);
    return found;
  };
  return {
    lists: (vendor, model) => windowsOf(vendor, model) !== undefined,
    find: (vendor, model, atMs) => {
      for (const { fromMs, untilMs, pricings } of windowsOf(vendor, model) ?? [])
        if (fromMs <= atMs) return untilMs <= atMs ? undefined : pricings;
      return undefined;
    },
  };
}

/** The windows of each model under each of its names, newest first, so that the first that has begun applies. */
function indexWindows(entries: readonly PriceBookEntry[]): ReadonlyMap<string, readonly Window[]> {
  const windows = new Map<string, Window[]>();
  for (const variants of Map.groupBy(entries, ({ vendor, model, effectiveFrom }) => `${vendor}\n${model}\n${effectiveFrom}`).values()) {
    const plain = variants.find(({ when }) => when === undefined);
    if (plain === undefined) continue;
    const ordered = [...variants.filter((each) => each !== plain), plain];
    const window = {
      fromMs: startOfDayMs(plain.effectiveFrom),
      untilMs: plain.effectiveUntil === undefined ? Infinity : startOfDayMs(plain.effectiveUntil),
      pricings: ordered.map(preparePricing),
    };
    for (const spelling of new Set(variants.flatMap(({ model, aliases }) => [model, ...(aliases ?? [])]))) {
      const key = windowKey(plain.vendor, spelling);
      windows.set(key, [...(windows.get(key) ?? []), window]);
    }
  }
  for (const list of windows.values()) list.sort((one, other) => other.fromMs - one.fromMs);
  return windows;
}

function windowKey(vendor: string, model: string): string {
  return `${vendor}\n${model}`;
}

/** Midnight UTC of a date such as `2026-01-31`. */
export function startOfDayMs(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
