import { onlyObjects, toStoredItem } from '../../../../conversations/to-stored-item.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject, JsonValue } from '../../../../platform/json/json-value.ts';

/** The items of a request's `input`. A text is one message of the user. */
export function listInputItems(input: JsonValue | undefined): readonly JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
  return onlyObjects(input);
}

/** Items as they are stored: each with a type and an id by which it can be listed and referred to. */
export function nameItems(items: readonly JsonObject[], newId: (prefix: string) => string): readonly JsonObject[] {
  return items.map((item) => toStoredItem(item, newId));
}

/** Types of items that require an answer of the client, and the suffix of the answer's type. */
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
 * Refuses a conversation in which a call of a stored response has no output. The vendor does so too, because a model
 * invents a missing output.
 * @throws GatewayError `invalid_value`, with the vendor's message
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
    const kind = type.replace(/_call$/, '').replaceAll('_', ' ');
    throw new GatewayError('invalid_value', `No tool output found for ${kind} call ${typeof callId === 'string' ? callId : '?'}.`, {
      param: 'input',
      details: { openai_code: 'missing_tool_output' },
    });
  }
}

/** The request with its whole conversation in `input` and without names of a history. */
export function expandBody(body: JsonObject, items: readonly JsonObject[]): JsonObject {
  const { previous_response_id: _previous, conversation: _conversation, ...rest } = body;
  return { ...rest, input: items };
}
