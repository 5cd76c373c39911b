import type { PriceBookData, PriceBookEntry } from './price-book-schema.ts';

const modelOf = ({ vendor, model }: PriceBookEntry): string => `${vendor}/${model}`;

/**
 * A book on top of another: what it says of a model takes the place of everything that the other says of that model, in all windows. Names that it claims are taken from the
 * models of the other that had them as aliases.
 */
export function mergePriceBooks(base: PriceBookData, over: PriceBookData): PriceBookData {
  const models = new Set(over.entries.map(modelOf));
  const names = new Set(over.entries.flatMap(({ vendor, model, aliases = [] }) => [model, ...aliases].map((name) => `${vendor}/${name}`)));
  const kept = base.entries
    .filter((entry) => !models.has(modelOf(entry)) && !names.has(modelOf(entry)))
    .map((entry) => withoutNames(entry, names));
  return { version: `${base.version}+${over.version}`, currency: 'USD', entries: [...kept, ...over.entries] };
}

function withoutNames(entry: PriceBookEntry, taken: ReadonlySet<string>): PriceBookEntry {
  if (entry.aliases?.some((alias) => taken.has(`${entry.vendor}/${alias}`)) !== true) return entry;
  return { ...entry, aliases: entry.aliases.filter((alias) => !taken.has(`${entry.vendor}/${alias}`)) };
}
