/** A page of the simulated web. */
export type SearchDocument = {
  /** Its host is `<site>.localhost`. */
  readonly site: string;
  readonly path: string;
  readonly title: string;
  /** ISO 8601. */
  readonly date: string;
  readonly language: string;
  /** Paragraphs, separated by empty lines. */
  readonly text: string;
};

/** A row of a document list: site, path, title, date, text; the language follows unless it is English. */
export type DocumentRow = readonly [site: string, path: string, title: string, date: string, text: string, language?: string];

export function toDocument([site, path, title, date, text, language = 'en']: DocumentRow): SearchDocument {
  return { site, path, title, date, text, language };
}
