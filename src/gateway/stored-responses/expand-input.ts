import { GatewayError } from '../../inference/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';

/** The items of a request's `input`: a text is one message of the user. */
export function listInputItems(input: JsonValue | undefined): readonly JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
  return Array.isArray(input) ? input.filter(isJsonObject) : [];
}

/** Whether an item only names another one. The contract lets its type be left out. */
export function isReference(item: JsonObject): boolean {
  if (item.type === 'item_reference') return true;
  return (item.type === undefined || item.type === null) && typeof item.id === 'string' && item.role === undefined;
}

/** Prefixes of the ids that items get here, by their type. */
const idPrefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  computer_call: 'cu',
  computer_call_output: 'cuo',
  file_search_call: 'fs',
  web_search_call: 'ws',
  code_interpreter_call: 'ci',
};

/** Items as they are kept: each with a type and an id, by which it can be listed and referred to. */
export function nameItems(items: readonly JsonObject[], newId: (prefix: string) => string): readonly JsonObject[] {
  return items.map((item) => {
    const type = typeof item.type === 'string' ? item.type : 'message';
    const id = typeof item.id === 'string' && item.id !== '' ? item.id : newId(idPrefixes[type] ?? 'item');
    const content = type === 'message' && typeof item.content === 'string' ? { content: partsOf(item, item.content) } : {};
    return { ...item, ...content, type, id };
  });
}

function partsOf(item: JsonObject, text: string): JsonValue {
  return [{ type: item.role === 'assistant' ? 'output_text' : 'input_text', text }];
}

/** Types of items that ask a client for something, and what their answer's type ends in. */
const outputSuffix = '_output';
const clientCalls: ReadonlySet<string> = new Set([
  'function_call',
  'custom_tool_call',
  'computer_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
]);

/**
 * Refuses a conversation in which a call of a stored response is left without its output: the vendor does, because a model that meets such a gap makes up the rest.
 * @throws GatewayError `invalid_value`, in the vendor's words
 */
export function requireOutputs(history: readonly JsonObject[], input: readonly JsonObject[]): void {
  const answered = new Set<JsonValue | undefined>();
  for (const items of [history, input]) {
    for (const { type, call_id: callId } of items) {
      if (typeof type === 'string' && type.endsWith(outputSuffix)) answered.add(callId);
    }
  }
  for (const { type, call_id: callId } of history) {
    if (typeof type !== 'string' || !clientCalls.has(type) || answered.has(callId)) continue;
    const word = type.replace(/_call$/, '').replaceAll('_', ' ');
    throw new GatewayError('invalid_value', `No tool output found for ${word} call ${String(callId)}.`, {
      param: 'input',
      details: { openai_code: 'missing_tool_output' },
    });
  }
}

/** The request with its whole conversation in `input`, and nothing that names a history kept elsewhere. */
export function expandBody(body: JsonObject, items: readonly JsonObject[]): JsonObject {
  const { previous_response_id: _previous, conversation: _conversation, ...rest } = body;
  return { ...rest, input: items };
}
