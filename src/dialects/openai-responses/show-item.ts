import { itemsOf, textOf, textsOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';

/**
 * Additional members that a client may request: contract B's four values, and the vendor's newer ones (its API
 * description of 2026-08-21).
 */
export const includeValues = [
  'file_search_call.results',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'reasoning.encrypted_content',
  'web_search_call.results',
  'web_search_call.action.sources',
  'code_interpreter_call.outputs',
  'message.output_text.logprobs',
] as const;

export type IncludeValue = (typeof includeValues)[number];
export type Include = ReadonlySet<IncludeValue>;

/**
 * Reads the `include` of a request. Clients without stored responses send the history themselves, and need the proofs
 * of reasoning for it.
 */
export function readShown({ include, store }: JsonObject): Include {
  const requested = textsOf(include);
  const isShown = (value: IncludeValue): boolean =>
    requested.includes(value) || (store === false && value === 'reasoning.encrypted_content');
  return new Set(includeValues.filter(isShown));
}

/**
 * An item without the members that were not requested. Stored items have all members. An item that loses nothing is
 * returned unchanged.
 */
export function showItem(item: JsonObject, include: Include): JsonObject {
  switch (typeof item['type'] === 'string' ? item['type'] : 'message') {
    case 'file_search_call':
      return include.has('file_search_call.results') ? item : replace(item, 'results', null);
    case 'code_interpreter_call':
      return include.has('code_interpreter_call.outputs') ? item : replace(item, 'outputs', null);
    case 'reasoning':
      return include.has('reasoning.encrypted_content') ? item : omit(item, 'encrypted_content');
    case 'web_search_call':
      return showWebSearch(item, include);
    case 'computer_call_output': {
      const { output } = item;
      if (include.has('computer_call_output.output.image_url') || !isJsonObject(output)) return item;
      return replace(item, 'output', omit(output, 'image_url'));
    }
    case 'message':
      return showMessage(item, include);
    default:
      return item;
  }
}

const showValue = (item: JsonValue, include: Include): JsonValue => (isJsonObject(item) ? showItem(item, include) : item);

/** Whether all members of an item are hidden. */
function isHidden(item: JsonValue, include: Include): boolean {
  return isJsonObject(item) && !include.has('reasoning.encrypted_content') && isBareProof(item);
}

/** A response object with its items reduced as above. */
export function showResponse(response: JsonObject, include: Include): JsonObject {
  const { output } = response;
  if (!Array.isArray(output)) return response;
  const items: readonly JsonValue[] = output;
  return { ...response, output: items.filter((item) => !isHidden(item, include)).map((item) => showValue(item, include)) };
}

function showWebSearch(item: JsonObject, include: Include): JsonObject {
  const shown = include.has('web_search_call.results') ? item : omit(item, 'results');
  const { action } = shown;
  if (include.has('web_search_call.action.sources') || !isJsonObject(action)) return shown;
  return replace(shown, 'action', omit(action, 'sources'));
}

function showMessage(item: JsonObject, include: Include): JsonObject {
  const { content } = item;
  if (!Array.isArray(content)) return item;
  const parts = content.map((part: JsonValue) => (isJsonObject(part) ? showPart(part, include) : part));
  return parts.some((part, index) => part !== content[index]) ? { ...item, content: parts } : item;
}

function showPart(part: JsonObject, include: Include): JsonObject {
  if (part['type'] === 'input_image') return include.has('message.input_image.image_url') ? part : replace(part, 'image_url', null);
  const { logprobs } = part;
  const hasLogprobs = Array.isArray(logprobs) && logprobs.length > 0;
  return hasLogprobs && !include.has('message.output_text.logprobs') ? { ...part, logprobs: [] } : part;
}

/** Replaces an existing member; the order of members stays. */
function replace(object: JsonObject, member: string, value: JsonValue): JsonObject {
  return object[member] === undefined || object[member] === value ? object : { ...object, [member]: value };
}

function omit(object: JsonObject, member: string): JsonObject {
  if (!(member in object)) return object;
  const { [member]: _omitted, ...rest } = object;
  return rest;
}

/**
 * The prefix of ids of reasoning items that the gateway created. The vendor never stored them, so `removeForeignProofs`
 * must recognise them.
 */
export const ownReasoningPrefix = 'rs_gw';

/** Whether an item was created here only to carry a proof. A client that does not see proofs does not see the item. */
export function isBareProof({ type, id, summary, content }: JsonObject): boolean {
  const isOwn = type === 'reasoning' && textOf(id)?.startsWith(ownReasoningPrefix) === true;
  return isOwn && itemsOf(summary).length === 0 && itemsOf(content).length === 0;
}
