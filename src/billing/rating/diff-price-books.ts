import { entryId } from './entry-problems.ts';
import type { PriceBookData, PriceBookEntry } from './price-book-schema.ts';

/**
 * A price or condition that differs between two books. `before` or `after` is absent if one of them does not have it.
 */
export type PriceChange = {
  /** The entry, for example `openai/gpt-5@2025-08-07`. */
  readonly entry: string;
  /** The member, for example `tiers.0.prices.input`; empty for the whole entry. */
  readonly member: string;
  readonly before?: string;
  readonly after?: string;
};

/** Members for source and display, which change no charge. */
const remarks = new Set(['source', 'checked', 'note', 'displayName', 'released']);

/** Every difference between two books that may change a charge, by name of the entry. */
export function diffPriceBooks(before: PriceBookData, after: PriceBookData): PriceChange[] {
  const [old, young] = [byId(before.entries), byId(after.entries)];
  const ids = [...new Set([...old.keys(), ...young.keys()])].toSorted();
  return ids.flatMap((entry) => {
    const [first, second] = [old.get(entry), young.get(entry)];
    if (first === undefined) return [{ entry, member: '', after: summarize(second) }];
    if (second === undefined) return [{ entry, member: '', before: summarize(first) }];
    return diffMembers(entry, flatten(first), flatten(second));
  });
}

function byId(entries: readonly PriceBookEntry[]): ReadonlyMap<string, PriceBookEntry> {
  return new Map(entries.map((entry) => [entryId(entry), entry]));
}

function diffMembers(entry: string, before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): PriceChange[] {
  const members = [...new Set([...before.keys(), ...after.keys()])];
  return members.flatMap((member) => {
    const [first, second] = [before.get(member), after.get(member)];
    if (first === second) return [];
    return [{ entry, member, ...(first === undefined ? {} : { before: first }), ...(second === undefined ? {} : { after: second }) }];
  });
}

/** The values of an entry by their path. */
function flatten(entry: PriceBookEntry): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) {
      found.set(path, String(value));
      return;
    }
    for (const [key, member] of Object.entries(value)) visit(member, path === '' ? key : `${path}.${key}`);
  };
  visit(Object.fromEntries(Object.entries(entry).filter(([member]) => !remarks.has(member))), '');
  return found;
}

/** A short text for an entry in a list of changes. */
function summarize(entry: PriceBookEntry | undefined): string {
  const [tier] = entry?.tiers ?? [];
  if (tier !== undefined) return `input ${tier.prices.input}, output ${tier.prices.output}`;
  const prices = { ...entry?.media, ...entry?.fees };
  return Object.entries(prices)
    .map(([meter, price]) => `${meter} ${typeof price === 'string' ? price : JSON.stringify(price)}`)
    .join(', ');
}
