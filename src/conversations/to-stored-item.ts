import { isJsonObject, type JsonObject } from '../platform/json/json-value.ts';

/** How ids of items begin, by their type. */
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

/** Items that say whether they are whole. */
const withStatus = new Set(['message', 'function_call', 'function_call_output', 'computer_call_output']);

/**
 * An item as it is kept and shown: with an id, the short forms of a message written out. An item that has an id keeps it.
 * @param newId makes an id that begins as it is told
 */
export function toStoredItem(item: JsonObject, newId: (prefix: string) => string): JsonObject {
  const { type: written, id, ...rest } = item;
  const type = typeof written === 'string' ? written : 'message';
  // A part of a message that stands alone is one of the user's.
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

/** Whether an item only names one that is stored. */
export function isItemReference(item: JsonObject): item is JsonObject & { readonly id: string } {
  const { type, id } = item;
  return typeof id === 'string' && (type === 'item_reference' || ((type === undefined || type === null) && !('role' in item)));
}

/** The items among values of a request. */
export function onlyObjects(values: unknown): readonly JsonObject[] {
  return Array.isArray(values) ? values.filter(isJsonObject) : [];
}
