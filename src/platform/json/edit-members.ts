import { indexOf } from './indexed-object.ts';
import type { JsonEdit } from './json-edits.ts';
import type { JsonSpan } from './json-span.ts';
import type { JsonObject } from './json-value.ts';
import { listMembers, locateJson } from './locate-json.ts';

/** Changes of the members of an object within a text: those that go, and those that are put in front. */
export type MemberChanges = {
  /** The object. Empty: the outermost one. */
  readonly path?: readonly (string | number)[];
  readonly remove?: readonly string[];
  /** Values as JSON texts. They replace members of the same name. */
  readonly set?: Readonly<Record<string, string>>;
};

/** A member in its text, from the quote of its key to the end of its value. */
type MemberSpan = JsonSpan & { readonly name: string };

/**
 * Writes edits that remove members of an object, with the comma that each takes along, and set others. The bytes of all
 * other members stay.
 * @param body the outermost object, whose index is used if it has one
 */
export function editMembers(
  { body, bytes }: { readonly body: JsonObject; readonly bytes: Buffer },
  changes: MemberChanges,
): readonly JsonEdit[] {
  const { path = [], remove = [], set = {} } = changes;
  const object = path.length === 0 ? findMembers(body, bytes) : readMembers(bytes, locateJson(bytes, path));
  if (object === undefined) return [];
  const { span, members } = object;
  const goes = ({ name }: MemberSpan): boolean => remove.includes(name) || Object.hasOwn(set, name);
  const lastKept = members.findLastIndex((member) => !goes(member));
  const added = Object.entries(set).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  const front = `${added.join(',')}${added.length > 0 && lastKept >= 0 ? ',' : ''}`;
  const start = members[0]?.start ?? span.start + 1;
  const edits: JsonEdit[] = front === '' ? [] : [{ start, end: start, replacement: front }];
  for (const [index, member] of members.entries()) {
    if (!goes(member)) continue;
    const before = members[index - 1];
    const next = members[index + 1];
    // Behind the last member that stays, the comma before goes along; elsewhere the one behind.
    const isBehind = index > lastKept && lastKept >= 0 && before !== undefined;
    const removed = isBehind ? { start: before.end, end: member.end } : { start: member.start, end: next?.start ?? member.end };
    edits.push({ ...removed, replacement: '' });
  }
  return edits;
}

type ObjectSpans = { readonly span: JsonSpan; readonly members: readonly MemberSpan[] };

/** The members of the outermost object; with an index, without reading the text again. */
function findMembers(body: JsonObject, bytes: Buffer): ObjectSpans | undefined {
  const index = indexOf(body);
  if (index === undefined || index.bytes !== bytes) return readMembers(bytes, locateJson(bytes, []));
  const members: MemberSpan[] = [];
  const end = index.next(0);
  for (let key = index.first(0); key < end; key = index.next(key + 1)) {
    members.push({ name: index.text(key) ?? '', start: index.start(key), end: index.end(key + 1) });
  }
  return { span: { start: index.start(0), end: index.end(0) }, members };
}

function readMembers(bytes: Buffer, span: JsonSpan | undefined): ObjectSpans | undefined {
  if (span === undefined) return undefined;
  const members = listMembers(bytes, span).map(({ key, keySpan, valueSpan }) => ({ name: key, start: keySpan.start, end: valueSpan.end }));
  return { span, members };
}
