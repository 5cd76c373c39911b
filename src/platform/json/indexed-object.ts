import { JsonIndex, jsonKind, noNode } from './json-index.ts';
import { membersOf, objectsOf, textOf } from './json-readers.ts';
import type { JsonSpan } from './json-span.ts';
import type { JsonObject } from './json-value.ts';
import { locateJson } from './locate-json.ts';

const indexKey = Symbol('index');

/**
 * Attaches the index of a text to the object that it contains. Copies of the object (`{ ...object }`) have no index,
 * because they may differ from the text.
 */
export function attachIndex(object: JsonObject, index: JsonIndex): void {
  Object.defineProperty(object, indexKey, { value: index });
}

/**
 * The index of the text that an object was read from. Undefined if the object was made here. Large members of an
 * indexed object are parsed when they are read first, so read them on the index.
 */
export function indexOf(object: JsonObject): JsonIndex | undefined {
  const index: unknown = Reflect.get(object, indexKey);
  return index instanceof JsonIndex ? index : undefined;
}

/** The texts that the objects of a list have in one member: of `object[list]`, which need not be parsed. */
export function textsIn(object: JsonObject, list: string, member: string): readonly string[] {
  const index = indexOf(object);
  if (index === undefined) return objectsOf(object[list]).flatMap((item) => textOf(item[member]) ?? []);
  const texts: string[] = [];
  const items = index.find(0, list);
  if (items === noNode || index.kind(items) !== jsonKind.array) return texts;
  const end = index.next(items);
  for (let item = index.first(items); item < end; item = index.next(item)) {
    const text = index.text(index.find(item, member));
    if (text !== undefined) texts.push(text);
  }
  return texts;
}

/**
 * The names of those members that are not null, for each object of a list, or of the single object in its place.
 * `object[list]` need not be parsed.
 */
export function namesIn(object: JsonObject, list: string): readonly (readonly string[])[] {
  const index = indexOf(object);
  if (index === undefined) {
    const value = object[list];
    return (Array.isArray(value) ? objectsOf(value) : [membersOf(value)]).map((item) =>
      Object.keys(item).filter((name) => item[name] !== null),
    );
  }
  const value = index.find(0, list);
  if (value === noNode || index.kind(value) !== jsonKind.array) return [namesOf(index, value)];
  const names: (readonly string[])[] = [];
  const end = index.next(value);
  for (let item = index.first(value); item < end; item = index.next(item)) names.push(namesOf(index, item));
  return names;
}

function namesOf(index: JsonIndex, object: number): readonly string[] {
  const names: string[] = [];
  if (object === noNode || index.kind(object) !== jsonKind.object) return names;
  const end = index.next(object);
  for (let key = index.first(object); key < end; key = index.next(key + 1)) {
    if (index.kind(key + 1) !== jsonKind.null) names.push(index.text(key) ?? '');
  }
  return names;
}

/** Finds the value at a path in an object's text, as `locateJson` does; with an index, without reading the text. */
export function locateIn(object: JsonObject, bytes: Buffer, path: readonly string[]): JsonSpan | undefined {
  const index = indexOf(object);
  if (index === undefined || index.bytes !== bytes) return locateJson(bytes, path);
  let node = 0;
  for (const name of path) node = index.find(node, name);
  return node === noNode ? undefined : { start: index.start(node), end: index.end(node) };
}
