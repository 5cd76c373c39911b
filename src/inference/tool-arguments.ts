import { isJsonObject, type JsonObject, type JsonValue } from '../platform/json/json-value.ts';
import { isNestedDeeper } from '../platform/json/json-depth.ts';
import { parseJson } from '../platform/json/parse-json.ts';
import type { ToolCallPart } from './inference-request.ts';
import type { TranslationNotes } from './translation-notes.ts';

/**
 * Deeper arguments are not accepted as JSON: no function has such arguments, and writing them would exhaust the stack.
 */
const depthMax = 256;

function parsed(text: string): JsonValue | undefined {
  try {
    return isNestedDeeper(text, depthMax) ? undefined : parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses the arguments of a call as an object. A blank text means no arguments. Undefined if it is not a JSON object.
 */
export function parseToolArguments(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  const value = parsed(text);
  // Some models write the object as a JSON string once more.
  const unpacked = typeof value === 'string' ? parsed(value) : value;
  return isJsonObject(unpacked) ? unpacked : undefined;
}

/**
 * Reads the arguments of a call in the request's history. If they are not a JSON object, it refuses the request and
 * names the call, because the upstream's refusal would not.
 */
export function readToolArguments(part: ToolCallPart, notes: TranslationNotes): JsonObject {
  return (
    parseToolArguments(part.arguments) ??
    notes.refuse({ path: part.path, otherwise: 'turns' }, `the arguments of the call ${part.id} are not a JSON object`)
  );
}

/**
 * Reads the arguments of a call that an upstream's model made. A text that is not a JSON object is stored under `_raw`,
 * so that it is never lost and never a string.
 */
export function repairToolArguments(text: string): JsonObject {
  return parseToolArguments(text) ?? { _raw: text };
}
