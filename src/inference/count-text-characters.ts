/** Members whose strings are media or proofs and not prompt text. */
const opaqueMembers = new Set([
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
 * Counts the characters of text in a parsed request body, leaving out inline media and opaque proofs. It is the basis of the input
 * estimate for calls whose upstream never reports a count. The walk is bounded by the structural guard that every body passes first.
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

/** Characters per token that estimates assume. English prose measures about 4 with current tokenizers. */
const charactersPerToken = 4;

/** Tokens that a number of characters is estimated to be. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
