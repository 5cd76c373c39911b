const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  '#x27': "'",
  '#39': "'",
  '#x2F': '/',
};

/** Removes the marks that services put around matching words from a title or snippet. Empty if it is not a text. */
export function plainSnippet(snippet: unknown): string {
  if (typeof snippet !== 'string') return '';
  return snippet
    .replace(/<\/?(?:strong|b|em|i|mark|br)\s*\/?>/gi, '')
    .replace(/&(amp|lt|gt|quot|apos|nbsp|#x27|#39|#x2F);/g, (whole, name: string) => entities[name] ?? whole)
    .replace(/\s+/g, ' ')
    .trim();
}
