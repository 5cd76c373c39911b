import { onlyObjects, toStoredItem } from '../../../../conversations/to-stored-item.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject, JsonValue } from '../../../../platform/json/json-value.ts';

/** The items of a request's `input`: a text is one message of the user. */
export function listInputItems(input: JsonValue | undefined): readonly JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
  return onlyObjects(input);
}

/** Items as they are kept: each with a type and an id, by which it can be listed and referred to. */
export function nameItems(items: readonly JsonObject[], newId: (prefix: string) => string): readonly JsonObject[] {
  return items.map((item) => toStoredItem(item, newId));
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
    throw new GatewayError('invalid_value', `No tool output found for ${word} call ${typeof callId === 'string' ? callId : '?'}.`, {
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
