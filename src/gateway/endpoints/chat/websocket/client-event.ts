import { GatewayError } from '../../../../inference/gateway-error.ts';
import { textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

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
