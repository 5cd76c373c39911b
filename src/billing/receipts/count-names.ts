/** The names of counts as receipts write them: `cacheWrite5mTokens` is `cache_write_5m_tokens`. */
export function writeCounts(counts: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => (count === undefined ? [] : [[writeName(name), count] as const])),
  );
}

/** The counts of a receipt by the names that rating knows them by. */
export function readCounts(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [readName(name), count]));
}

function writeName(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?:[A-Z]|[0-9]+)/g, (part) => `_${part.toLowerCase()}`);
}

function readName(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
