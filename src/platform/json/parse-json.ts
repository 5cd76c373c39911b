import { isJsonObject, type JsonObject, type JsonValue } from './json-value.ts';

/**
 * Parses JSON that came from outside; the one place that does.
 *
 * Bytes are read as UTF-8 (a damaged sequence becomes U+FFFD: `scanJson` refuses it beforehand). Of duplicate keys the last one wins.
 * `__proto__` is harmless here and stays harmless: JSON.parse makes it an ordinary own member and sets no prototype. It would become a
 * prototype only by assignment (`target[key] = value`, `Object.assign`), so parsed members are copied by spread or `Object.fromEntries`
 * and looked up with `Object.hasOwn`.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseJson(text: Buffer | string): JsonValue {
  // The type of a parsed JSON text is exactly this.
  return JSON.parse(typeof text === 'string' ? text : text.toString('utf8')) as JsonValue;
}

/** The object that a text is in JSON; undefined where it is another value, or no JSON. */
export function parseJsonObject(text: Buffer | string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
