import type { JsonEdit } from './json-edits.ts';
import { indexOf } from './indexed-object.ts';
import type { JsonIndex } from './json-index.ts';
import { listMembers, locateJson } from './locate-json.ts';
import type { JsonSpan } from './json-span.ts';
import type { JsonObject } from './json-value.ts';

/** A member of an object in its text, from the quote of its key to the end of its value. */
type MemberSpan = JsonSpan & { readonly name: string };

/**
 * The edits that remove members of the outermost object of a text and put others before the rest. The bytes of the
 * members that stay are unchanged.
 */
export function rewriteMembers(
  bytes: Buffer,
  object: JsonObject,
  { removed, added }: { readonly removed: ReadonlySet<string>; readonly added: JsonObject },
): readonly JsonEdit[] {
  const index = indexOf(object);
  const { root, members } = index === undefined || index.bytes !== bytes ? readSpans(bytes) : readIndex(index);
  const names = Object.keys(added);
  const text = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(added[name])}`).join(',');
  const edits: JsonEdit[] = [];
  let end = root.start + 1;
  let separator = '';
  for (const [at, member] of members.entries()) {
    if (removed.has(member.name) || names.includes(member.name)) continue;
    const isNeighbour = members[at - 1]?.end === end;
    if (separator === '') edits.push({ start: end, end: member.start, replacement: text === '' ? '' : `${text},` });
    else if (!isNeighbour) edits.push({ start: end, end: member.start, replacement: separator });
    separator = ',';
    ({ end } = member);
  }
  return [...edits, { start: end, end: root.end - 1, replacement: separator === '' ? text : '' }];
}

type ObjectSpans = { readonly root: JsonSpan; readonly members: readonly MemberSpan[] };

function readIndex(index: JsonIndex): ObjectSpans {
  const members: MemberSpan[] = [];
  const end = index.next(0);
  for (let key = index.first(0); key < end; key = index.next(key + 1)) {
    members.push({ name: index.text(key) ?? '', start: index.start(key), end: index.end(key + 1) });
  }
  return { root: { start: index.start(0), end: index.end(0) }, members };
}

function readSpans(bytes: Buffer): ObjectSpans {
  const root = locateJson(bytes, []) ?? { start: 0, end: bytes.length };
  const members = listMembers(bytes, root).map(({ key, keySpan, valueSpan }) => ({ name: key, start: keySpan.start, end: valueSpan.end }));
  return { root, members };
}
