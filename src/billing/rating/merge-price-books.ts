import type { PriceBookData, PriceBookEntry } from './price-book-schema.ts';

const modelOf = ({ vendor, model }: PriceBookEntry): string => `${vendor}/${model}`;

/**
 * A book on top of another: its entries of a model replace all entries of that model in the other, in all windows. Its
 * names are removed from the aliases of the other's models.
 */
export function mergePriceBooks(base: PriceBookData, over: PriceBookData): PriceBookData {
  const models = new Set(over.entries.map(modelOf));
  const names = new Set(over.entries.flatMap(({ vendor, model, aliases = [] }) => [model, ...aliases].map((name) => `${vendor}/${name}`)));
  const remaining = base.entries
    .filter((entry) => !models.has(modelOf(entry)) && !names.has(modelOf(entry)))
    .map((entry) => withoutNames(entry, names));
  return { version: `${base.version}+${over.version}`, currency: 'USD', entries: [...remaining, ...over.entries] };
}

function withoutNames(entry: PriceBookEntry, usedNames: ReadonlySet<string>): PriceBookEntry {
  if (entry.aliases?.some((alias) => usedNames.has(`${entry.vendor}/${alias}`)) !== true) return entry;
  return { ...entry, aliases: entry.aliases.filter((alias) => !usedNames.has(`${entry.vendor}/${alias}`)) };
}
