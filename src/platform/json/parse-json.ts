import { mayHaveEscapedKey, parsePieces } from './escaped-keys.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json-value.ts';

/**
 * Parses JSON from outside. All such JSON is parsed here.
 *
 * Bytes are read as UTF-8 (a damaged sequence becomes U+FFFD: `scanJson` refuses it beforehand). Of duplicate keys the
 * last one wins. `__proto__` is harmless here and stays harmless: JSON.parse makes it an ordinary own member and sets
 * no prototype. It would become a prototype only by assignment (`target[key] = value`, `Object.assign`), so parsed
 * members are copied by spread or `Object.fromEntries` and looked up with `Object.hasOwn`.
 *
 * JSON.parse of V8 14.6 (Node 26.10) may give a key that is written with an escape the name of a key that another text
 * had in the same place: after `{"\\":1}`, the key of `{"\u0061":1}` is `\`. So one caller could rename the fields of
 * another. Texts with such keys are put together here.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseJson(text: Buffer | string): JsonValue {
  const whole = typeof text === 'string' ? text : text.toString('utf8');
  // Every parsed JSON text has this type.
  const value = JSON.parse(whole) as JsonValue;
  return mayHaveEscapedKey(whole) ? parsePieces(whole) : value;
}

/** Parses a text that should be an object. Undefined if it is another value, or not JSON. */
export function parseJsonObject(text: Buffer | string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
