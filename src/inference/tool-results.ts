import { isJsonObject, type JsonObject, type JsonValue } from '../platform/json/json-value.ts';
import { isNestedDeeper } from '../platform/json/json-depth.ts';
import { parseJson } from '../platform/json/parse-json.ts';
import type { ToolResultPart } from './inference-request.ts';

function joinTexts(part: ToolResultPart): string {
  return part.content.flatMap((piece) => (piece.kind === 'text' ? [piece.text] : [])).join('\n');
}

/** The text of a result, for dialects that cannot mark errors. The caller handles media. */
export function resultText(part: ToolResultPart): string {
  const text = joinTexts(part);
  return part.isError ? `Error: ${text}` : text;
}

/**
 * The text of a result as the object that generate-content requires: JSON objects unchanged, other text under `result`,
 * errors under `error`.
 */
export function resultObject(part: ToolResultPart): JsonObject {
  const text = joinTexts(part);
  if (part.isError) return { error: text };
  const value = parseIfJson(text);
  return isJsonObject(value) ? value : { result: value };
}

/** Deeper results stay text, because writing them as values would exhaust the stack. */
const depthMax = 256;

function parseIfJson(text: string): JsonValue {
  // Numbers and words stay text: 007 and 1e999 would change.
  if (!/^\s*[[{]/.test(text) || isNestedDeeper(text, depthMax)) return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/**
 * The inverse of `resultObject`: a single member `result` or `output` is the content, any other object is JSON text.
 */
export function contentFromObject(object: JsonObject): string {
  const [only, ...others] = Object.keys(object);
  const value = others.length === 0 && (only === 'result' || only === 'output') ? object[only] : object;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
