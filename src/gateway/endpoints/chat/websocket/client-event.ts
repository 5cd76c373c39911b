import { GatewayError } from '../../../../inference/gateway-error.ts';
import { textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { describeProgress, echoRequest } from '../../../../dialects/openai-responses/codec/response-object.ts';

/** The request in one message of a client. */
export type ClientEvent = {
  /** The body of the request. */
  readonly body: JsonObject;
  /** False if the client only sends context for a later request: nothing is generated. */
  readonly generate: boolean;
};

/**
 * Reads a message of a client.
 * @throws GatewayError if it is not `response.create`, or uses a field that WebSockets lack
 */
export function readClientEvent(message: JsonObject): ClientEvent {
  const { type, generate, stream: _implied, background, stream_id, ...rest } = message;
  if (type !== 'response.create') {
    const shown = textOf(type);
    const found = shown === undefined ? 'has none' : `has '${shown.slice(0, 40)}'`;
    throw new GatewayError('invalid_value', `Invalid 'type': expected 'response.create', but the message ${found}.`, { param: 'type' });
  }
  if (background === true) throw unsupported('background', 'send the request as POST');
  if (stream_id !== undefined && stream_id !== null) throw unsupported('stream_id', 'open another connection');
  if (generate !== undefined && typeof generate !== 'boolean')
    throw new GatewayError('invalid_value', `Invalid 'generate': expected true or false.`, { param: 'generate' });
  return { body: { ...rest, stream: true }, generate: generate !== false };
}

function unsupported(param: string, instead: string): GatewayError {
  return new GatewayError('invalid_value', `'${param}' is not supported over a WebSocket; ${instead}.`, {
    param,
    details: { openai_code: 'unsupported_parameter' },
  });
}

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
