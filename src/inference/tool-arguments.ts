import { isJsonObject, type JsonObject, type JsonValue } from '../platform/json/json-value.ts';
import { isNestedDeeper } from '../platform/json/json-depth.ts';
import { parseJson } from '../platform/json/parse-json.ts';
import type { ToolCallPart } from './inference-request.ts';
import type { TranslationNotes } from './translation-notes.ts';

/** Deeper arguments are taken for no JSON: no function has such, and writing them would exhaust the stack. */
const depthMax = 256;

function parsed(text: string): JsonValue | undefined {
  try {
    return isNestedDeeper(text, depthMax) ? undefined : parseJson(text);
  } catch {
    return undefined;
  }
}

/** The arguments of a call as an object. Blank text means no arguments; undefined when it is no JSON object. */
export function parseToolArguments(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  const value = parsed(text);
  // Some models write the object as a JSON string once more.
  const unpacked = typeof value === 'string' ? parsed(value) : value;
  return isJsonObject(unpacked) ? unpacked : undefined;
}

/**
 * The arguments of a call in the request's history. Refuses, naming the call, what is no JSON object: the upstream would refuse it
 * namelessly.
 */
export function readToolArguments(part: ToolCallPart, notes: TranslationNotes): JsonObject {
  return (
    parseToolArguments(part.arguments) ??
    notes.refuse({ path: part.path, otherwise: 'turns' }, `the arguments of the call ${part.id} are no JSON object`)
  );
}

/**
 * The arguments of a call that an upstream's model made. What is no JSON object is kept as text under `_raw`: it is never lost and never a
 * string.
 */
export function repairToolArguments(text: string): JsonObject {
  return parseToolArguments(text) ?? { _raw: text };
}
