import { stepBytesUsual, WorkSlices } from '../yield-queue.ts';
import { attachIndex, indexOf } from './indexed-object.ts';
import { type JsonIndex, jsonKind } from './json-index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json-value.ts';
import { parseNodeInSlices } from './parse-in-slices.ts';
import { parseJson } from './parse-json.ts';

/** Members of this size are parsed when they are read. For smaller ones that costs more than parsing them at once. */
const lazyBytesMin = 1024;

/** Strings of this size are decoded by themselves, which is faster than parsing the value that contains them. */
const longTextBytes = 16_384;

/**
 * The object at the root of a text. It equals the object that `parseJson` makes, but each large member is parsed when
 * it is read first. Until then it is an accessor; `in`, `Object.keys` and `Object.hasOwn` do not read it, and a copy by
 * spread, `JSON.stringify` and `structuredClone` do. It has its index (`indexOf`). Undefined if the root is another
 * value.
 * @param parsed values of large members that were parsed already, by node
 */
export function lazyObject(index: JsonIndex, parsed?: ReadonlyMap<number, JsonValue>): JsonObject | undefined {
  if (index.kind(0) !== jsonKind.object) return undefined;
  const { bytes } = index;
  let from = index.start(0);
  let small = '';
  for (let key = index.first(0), end = index.next(0); key < end; key = index.next(key + 1)) {
    if (!isLarge(index, key + 1)) continue;
    // Another value holds the place of the member, so that the members have their order.
    small += `${bytes.toString('utf8', from, index.start(key + 1))}0`;
    from = index.end(key + 1);
  }
  const object = parseJson(small + bytes.toString('utf8', from, index.end(0)));
  if (!isJsonObject(object)) return undefined;
  for (let key = index.first(0), end = index.next(0); key < end; key = index.next(key + 1)) {
    if (!isLarge(index, key + 1)) continue;
    const name = index.text(key) ?? '';
    const value = parsed?.get(key + 1);
    if (value === undefined) Object.defineProperty(object, name, accessors.get(name) ?? createAccessor(name));
    else define(object, name, value);
  }
  attachIndex(object, index);
  return object;
}

/**
 * The same for a large text: what takes long to parse is parsed now, in slices between which the process does other
 * work.
 */
export async function lazyObjectInSlices(
  index: JsonIndex,
  { slices = new WorkSlices(), stepBytes = stepBytesUsual }: { readonly slices?: WorkSlices; readonly stepBytes?: number } = {},
): Promise<JsonObject | undefined> {
  if (index.kind(0) !== jsonKind.object) return undefined;
  const parsed = new Map<number, JsonValue>();
  let smallBytes = index.end(0) - index.start(0);
  for (let key = index.first(0), end = index.next(0); key < end; key = index.next(key + 1)) {
    if (!isLarge(index, key + 1)) continue;
    smallBytes -= index.end(key + 1) - index.start(key + 1);
    if (parsedBytes(index, key + 1) > stepBytes) parsed.set(key + 1, await parseNodeInSlices(index, key + 1, { slices, stepBytes }));
  }
  if (smallBytes <= stepBytes) return lazyObject(index, parsed);
  const object = await parseNodeInSlices(index, 0, { slices, stepBytes });
  if (!isJsonObject(object)) return undefined;
  attachIndex(object, index);
  return object;
}

/**
 * Parses the large members of an object that were not read yet, in slices between which the process does other work.
 * Call it before code that reads them, which would parse each at once. Undefined if that takes no time worth
 * mentioning.
 */
export function readAhead(
  object: JsonObject,
  slicing?: { readonly slices?: WorkSlices; readonly stepBytes?: number },
): Promise<void> | undefined {
  const index = indexOf(object);
  if (index === undefined || index.bytes.length <= (slicing?.stepBytes ?? stepBytesUsual)) return undefined;
  return readMembersAhead(object, index, slicing);
}

/** The text whose members are not parsed at once at the moment: `readingAhead` does that. */
let unread: JsonIndex | undefined;

class UnreadMemberError extends Error {}

/**
 * The result of work that may read large members of an object. If it does, they are parsed in slices and the work is
 * done again, so it must have no effect until it returns.
 */
export function readingAhead<Result>(object: JsonObject, work: () => Result): Result | Promise<Result> {
  const index = indexOf(object);
  if (index === undefined || index.bytes.length <= stepBytesUsual) return work();
  unread = index;
  try {
    return work();
  } catch (error) {
    if (!(error instanceof UnreadMemberError)) throw error;
  } finally {
    unread = undefined;
  }
  return readMembersAhead(object, index).then(work);
}

async function readMembersAhead(
  object: JsonObject,
  index: JsonIndex,
  slicing?: { readonly slices?: WorkSlices; readonly stepBytes?: number },
): Promise<void> {
  for (let key = index.first(0), end = index.next(0); key < end; key = index.next(key + 1)) {
    const name = isLarge(index, key + 1) ? (index.text(key) ?? '') : undefined;
    if (name === undefined || !isUnread(object, name)) continue;
    const value = await parseNodeInSlices(index, key + 1, slicing);
    if (isUnread(object, name)) define(object, name, value);
  }
}

function isUnread(object: JsonObject, name: string): boolean {
  return Object.getOwnPropertyDescriptor(object, name)?.get !== undefined;
}

function isLarge(index: JsonIndex, node: number): boolean {
  return index.end(node) - index.start(node) >= lazyBytesMin;
}

/** An accessor that parses its member when it is read first. It keeps nothing, so many objects can have it. */
function createAccessor(name: string): PropertyDescriptor & ThisType<JsonObject> {
  return {
    enumerable: true,
    configurable: true,
    get() {
      const index = indexOf(this);
      if (index === undefined) return undefined;
      if (unread === index) throw new UnreadMemberError(name);
      const value = materialize(index, index.find(0, name));
      define(this, name, value);
      return value;
    },
  };
}

/**
 * The accessors of members that are often large. V8 puts accessors into its old memory: those of one object alone would
 * keep it and its text until the next full collection.
 */
const accessors = new Map(['messages', 'input', 'contents', 'tools', 'system', 'instructions'].map((name) => [name, createAccessor(name)]));

function define(object: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(object, name, { enumerable: true, configurable: true, value, writable: true });
}

/** The value of a node as `parseJson` makes it. Long texts in it are decoded, and the rest is parsed. */
export function materialize(index: JsonIndex, node: number): JsonValue {
  const longTexts = listLongTexts(index, node);
  return longTexts.length === 0 ? index.materialize(node) : materializeParts(index, node, longTexts);
}

function materializeParts(index: JsonIndex, node: number, longTexts: readonly number[]): JsonValue {
  const end = index.next(node);
  const kind = index.kind(node);
  if (kind > jsonKind.array || !longTexts.some((text) => text > node && text < end)) return index.materialize(node);
  if (kind === jsonKind.array) {
    const items: JsonValue[] = [];
    for (let item = index.first(node); item < end; item = index.next(item)) items.push(materializeParts(index, item, longTexts));
    return items;
  }
  const members: [string, JsonValue][] = [];
  for (let key = index.first(node); key < end; key = index.next(key + 1))
    members.push([index.text(key) ?? '', materializeParts(index, key + 1, longTexts)]);
  // This makes `__proto__` an ordinary member, as JSON.parse does.
  return Object.fromEntries(members);
}

/** The long strings in a value whose bytes are their text. */
function listLongTexts(index: JsonIndex, node: number): readonly number[] {
  const found: number[] = [];
  const end = index.next(node);
  for (let inner = node; inner < end;) {
    const isLong = index.end(inner) - index.start(inner) >= longTextBytes;
    if (isLong && index.kind(inner) === jsonKind.string && !index.hasEscapes(inner)) found.push(inner);
    // Only a long value can contain a long string.
    inner = isLong ? inner + 1 : index.next(inner);
  }
  return found;
}

/** The bytes of a value that must be parsed to materialize it. */
function parsedBytes(index: JsonIndex, node: number): number {
  const bytesOf = (value: number): number => index.end(value) - index.start(value);
  return listLongTexts(index, node).reduce((left, text) => left - bytesOf(text), bytesOf(node));
}
