import type { JsonValue } from './json-value.ts';
import { parseJson } from './parse-json.ts';

/** Parses a text. Undefined if it is not JSON. */
export function parseIfJson(text: Buffer | string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
