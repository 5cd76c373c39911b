import { ExportError } from './vendor-usage.ts';

export type Members = Readonly<Record<string, unknown>>;

/** Reads an object of an export. @throws ExportError with the place */
export function readObject(value: unknown, place: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ExportError(`${place} is not an object`);
  return Object.fromEntries(Object.entries(value));
}

/** @throws ExportError with the place */
export function readList(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ExportError(`${place} is not a list`);
  return value;
}

/** A count; if absent or null it is 0, as in a vendor's sum. @throws ExportError if it is not a count */
export function readCount(members: Members, name: string, place: string): number {
  const value = members[name] ?? 0;
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw new ExportError(`${place}.${name} is not a count`);
}

/** The model of a result. @throws ExportError if results were not grouped by model */
export function readModel(members: Members, place: string): string {
  const { model } = members;
  if (typeof model === 'string' && model !== '') return model;
  throw new ExportError(`${place} has no model: export it with group_by=model`);
}

/** The pages of a file: one, or a list of them. Adds to `unread` if a page announces further ones that are missing. */
export function readPages(json: unknown, unread: Set<string>): readonly Members[] {
  const pages = Array.isArray(json) ? json : [json];
  if (pages.length === 0) throw new ExportError('the file has no page');
  const read = pages.map((page, index) => readObject(page, `page ${index}`));
  if (read.at(-1)?.['has_more'] === true) unread.add('further pages: the last one says has_more');
  return read;
}

/** Adds the names of non-empty members that are not read to `unread`. */
export function noteUnread(members: Members, readNames: ReadonlySet<string>, unread: Set<string>): void {
  for (const [name, value] of Object.entries(members)) if (!readNames.has(name) && value !== null && value !== 0) unread.add(name);
}
