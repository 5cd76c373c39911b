/** Members whose strings are media or proofs, and not text of the prompt. */
export const opaqueMembers: ReadonlySet<string> = new Set([
  'data',
  'file_data',
  'signature',
  'encrypted_content',
  'thoughtSignature',
  'thought_signature',
  'image_url',
  'url',
  'fileUri',
  'file_uri',
]);

/**
 * Counts the characters of text in a parsed request body, without inline media and opaque proofs. Input is estimated
 * from this number if the upstream reports no count. The structural scan that every body passes first bounds the walk.
 */
export function countTextCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let total = 0;
  if (Array.isArray(value)) {
    for (const item of value) total += countTextCharacters(item);
    return total;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) {
    const member = members[key];
    if (typeof member === 'string' && opaqueMembers.has(key)) continue;
    total += countTextCharacters(member);
  }
  return total;
}

/** Characters per token, for estimates. English prose has about 4 with current tokenizers. */
const charactersPerToken = 4;

/** Estimates the tokens of a number of characters. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
