const CHARACTERS_MAX = 64;

/**
 * Cuts a text for an error message to 64 characters, the last one an ellipsis, never in the middle of a surrogate pair.
 */
export function abbreviateText(text: string): string {
  if (text.length <= CHARACTERS_MAX) return text;
  const isPairCut = (text.charCodeAt(CHARACTERS_MAX - 2) & 0xfc00) === 0xd800;
  return `${text.slice(0, CHARACTERS_MAX - (isPairCut ? 2 : 1))}…`;
}
