import { isJsonObject, type JsonObject } from '../platform/json/json-value.ts';

/** Prefixes of item ids, by type. */
const idPrefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  web_search_call: 'ws',
  file_search_call: 'fs',
  code_interpreter_call: 'ci',
  computer_call: 'cu',
  image_generation_call: 'ig',
  mcp_list_tools: 'mcpl',
  mcp_call: 'mcp',
  custom_tool_call: 'ctc',
  compaction: 'cmp',
  function_call_output: 'fco',
  computer_call_output: 'cuo',
};

/** Types of items that have a status. */
const withStatus = new Set(['message', 'function_call', 'function_call_output', 'computer_call_output']);

/**
 * An item in its stored form: with an id, and with the short forms of a message expanded. An existing id is kept.
 * @param newId makes an id with the prefix
 */
export function toStoredItem(item: JsonObject, newId: (prefix: string) => string): JsonObject {
  const { type: written, id, ...rest } = item;
  const type = typeof written === 'string' ? written : 'message';
  // A single part without a message belongs to the user.
  if (type === 'input_text' || type === 'input_image' || type === 'input_file') {
    return { id: newId('msg'), type: 'message', role: 'user', status: 'completed', content: [item] };
  }
  const { status } = item;
  return {
    id: typeof id === 'string' && id !== '' ? id : newId(idPrefixes[type] ?? 'item'),
    type,
    ...rest,
    ...(withStatus.has(type) && typeof status !== 'string' ? { status: 'completed' } : {}),
    ...(type === 'message' && typeof item['content'] === 'string'
      ? { content: [toPart(item['content'], item['role'] === 'assistant')] }
      : {}),
  };
}

function toPart(text: string, isReply: boolean): JsonObject {
  return isReply ? { type: 'output_text', text, annotations: [] } : { type: 'input_text', text };
}

/** Whether an item only refers to a stored one. */
export function isItemReference(item: JsonObject): item is JsonObject & { readonly id: string } {
  const { type, id } = item;
  return typeof id === 'string' && (type === 'item_reference' || ((type === undefined || type === null) && !('role' in item)));
}

/** The objects among the values of a request. */
export function onlyObjects(values: unknown): readonly JsonObject[] {
  return Array.isArray(values) ? values.filter(isJsonObject) : [];
}
