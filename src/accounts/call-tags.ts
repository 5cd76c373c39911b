/**
 * Tags of a call by name, such as `project` → `search`: what reports are grouped by besides user, key and model. Sorted
 * by name.
 */
export type CallTags = Readonly<Record<string, string>>;

/** The most tags of a call, and the most characters of a name and of a value. */
export const tagLimits = { tags: 8, nameCharacters: 32, valueCharacters: 64 };

const namePattern = /^[a-z][a-z0-9_-]*$/;
/** Begins with a letter or a digit, so that no spreadsheet reads a value as a formula. */
const valuePattern = /^[A-Za-z0-9][A-Za-z0-9 ._@+:/-]*$/;

const nameRule = `a tag's name has 1 to ${tagLimits.nameCharacters} characters: a lower-case letter, then lower-case letters, digits, _ and -`;
const valueRule = `a tag's value has 1 to ${tagLimits.valueCharacters} characters: a letter or digit, then letters, digits, spaces and . _ @ + : / -`;

/** Whether a value that was read from a store is a valid set of tags. */
export function isCallTags(value: unknown): value is CallTags {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= tagLimits.tags &&
    entries.every(([name, text]) => typeof text === 'string' && findTagProblem(name, text) === undefined)
  );
}

/** Whether a text can be the name of a tag. */
function isTagName(name: string): boolean {
  return name.length <= tagLimits.nameCharacters && namePattern.test(name);
}

/**
 * Adds tags to those of a key, which win where both have one of the same name.
 * @returns the problem if there are too many together
 */
export function addTags(fixed: CallTags | undefined, added: CallTags): { readonly tags: CallTags } | { readonly problem: string } {
  const tags = fixed === undefined ? added : sortTags({ ...added, ...fixed });
  if (Object.keys(tags).length <= tagLimits.tags) return { tags };
  const own = fixed === undefined ? 0 : Object.keys(fixed).length;
  return { problem: `there are more than ${tagLimits.tags} tags with the ${own} that the key and earlier parts of the request have` };
}

/** The problem of a tag, in words for the person who wrote it. Undefined if there is none. */
export function findTagProblem(name: string, value: string): string | undefined {
  if (!isTagName(name)) return `"${name.slice(0, tagLimits.nameCharacters)}" cannot be a tag's name: ${nameRule}`;
  if (value.length > tagLimits.valueCharacters || !valuePattern.test(value) || value.endsWith(' '))
    return `the value of the tag ${name} is not allowed: ${valueRule}, and no space at its end`;
  return undefined;
}

/** The tags sorted by name, so that equal sets are equal texts. */
export function sortTags(tags: CallTags): CallTags {
  return Object.fromEntries(Object.entries(tags).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * Reads `name=value,name=value`, the form of the header `x-weir-tags` and of the command line. Spaces around names and
 * values are ignored.
 * @returns the tags sorted by name, or what is wrong and what would be right
 */
export function parseTags(text: string): { readonly tags: CallTags } | { readonly problem: string } {
  const tags: Record<string, string> = {};
  const parts = text.split(',', tagLimits.tags + 1);
  if (parts.length > tagLimits.tags) return { problem: `there are more than ${tagLimits.tags} tags` };
  for (const part of parts) {
    const equals = part.indexOf('=');
    if (equals === -1) return { problem: `"${part.trim().slice(0, 100)}" is not a tag: write name=value, and a comma between tags` };
    const name = part.slice(0, equals).trim();
    const value = part.slice(equals + 1).trim();
    const problem = findTagProblem(name, value);
    if (problem !== undefined) return { problem };
    if (tags[name] !== undefined) return { problem: `the tag ${name} is there twice` };
    tags[name] = value;
  }
  return { tags: sortTags(tags) };
}

/**
 * Reads a text of formatTags. A part that is not a tag is left out: the text was checked when it was written, and the
 * books must stay readable.
 */
export function readTags(text: string): CallTags {
  return Object.fromEntries(
    text.split(',').flatMap((part) => {
      const equals = part.indexOf('=');
      return equals < 1 ? [] : [[part.slice(0, equals), part.slice(equals + 1)]];
    }),
  );
}

/** Tags as one text, in the form that parseTags reads; empty without tags. */
export function formatTags(tags: CallTags | undefined): string {
  return Object.entries(tags ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}
