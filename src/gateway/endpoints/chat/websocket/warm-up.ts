import { describeProgress, echoRequest } from '../../../../dialects/openai-responses/codec/response-object.ts';
import { textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

const noUsage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

/** The response to a request that generates nothing, and its events. Later requests can continue it. */
export function describeWarmUp(
  id: string,
  body: JsonObject,
  createdAtMs: number,
): { readonly response: JsonObject; readonly events: readonly string[] } {
  const writing = { request: body, createdAtMs };
  const opened: JsonObject = { ...describeProgress({ id, model: textOf(body.model) ?? '', writing, output: [] }), ...echoRequest(writing) };
  const response = { ...opened, status: 'completed', completed_at: Math.floor(createdAtMs / 1000), usage: noUsage };
  const events: readonly (readonly [string, JsonObject])[] = [
    ['response.created', opened],
    ['response.in_progress', opened],
    ['response.completed', response],
  ];
  return {
    response,
    events: events.map(([type, each], sequence_number) => JSON.stringify({ type, sequence_number, response: each })),
  };
}
