import type { JsonValue } from './json-value.ts';
import { parseJson } from './parse-json.ts';

/** The value that a text is in JSON; undefined where it is none. */
export function parseIfJson(text: Buffer | string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
