const quote = 0x22;
const backslash = 0x5c;

/**
 * Whether JSON text nests arrays and objects deeper than a limit. Parsing works at any depth, but writing and recursive
 * functions throw a RangeError at some thousands of levels. One pass. For text that is not JSON the answer has no
 * meaning.
 */
export function isNestedDeeper(text: string, depthMax: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === backslash) at++;
      else if (code === quote) isInString = false;
    } else if (code === quote) isInString = true;
    // Brackets and braces differ in one bit.
    else if ((code | 0x20) === 0x7b && ++depth > depthMax) return true;
    else if ((code | 0x20) === 0x7d) depth--;
  }
  return false;
}

/** The same for a value. It goes level by level, so that the check itself works at any depth. */
export function isValueDeeper(value: unknown, depthMax: number): boolean {
  let level: readonly object[] = typeof value === 'object' && value !== null ? [value] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > depthMax) return true;
    const inner: object[] = [];
    for (const node of level) {
      const members: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
      for (const member of members) {
        if (typeof member === 'object' && member !== null) inner.push(member);
      }
    }
    level = inner;
  }
  return false;
}
