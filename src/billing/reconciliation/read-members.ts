import { ExportError } from './vendor-usage.ts';

export type Members = Readonly<Record<string, unknown>>;

/** An object of an export. @throws ExportError naming the place */
export function readObject(value: unknown, place: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ExportError(`${place} is no object`);
  return Object.fromEntries(Object.entries(value));
}

/** @throws ExportError naming the place */
export function readList(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ExportError(`${place} is no list`);
  return value;
}

/** A count that may be absent or null, which is 0 in a vendor's sum. @throws ExportError where it is no count */
export function readCount(members: Members, name: string, place: string): number {
  const value = members[name] ?? 0;
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw new ExportError(`${place}.${name} is no count`);
}

/** The model of a result. @throws ExportError where results were not grouped by it */
export function readModel(members: Members, place: string): string {
  const { model } = members;
  if (typeof model === 'string' && model !== '') return model;
  throw new ExportError(`${place} has no model: export it with group_by=model`);
}

/** The pages of a file: one, or a list of them. Adds to `unread` where a page says that others follow and none does. */
export function readPages(json: unknown, unread: Set<string>): readonly Members[] {
  const pages = Array.isArray(json) ? json : [json];
  if (pages.length === 0) throw new ExportError('the file holds no page');
  const read = pages.map((page, index) => readObject(page, `page ${index}`));
  if (read.at(-1)?.['has_more'] === true) unread.add('further pages: the last one says has_more');
  return read;
}

/** Notes members that carry something and that nobody reads. */
export function noteUnread(members: Members, known: ReadonlySet<string>, unread: Set<string>): void {
  for (const [name, value] of Object.entries(members)) if (!known.has(name) && value !== null && value !== 0) unread.add(name);
}
