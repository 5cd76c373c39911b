import { encodeEventFrame } from '../../../../platform/event-stream/encode-event-frame.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/** A frame of a stream of Bedrock. */
export function encodeBedrockEvent(type: string, payload: JsonObject): Buffer {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' };
  return encodeEventFrame(headers, Buffer.from(JSON.stringify(payload)));
}

/** The frame that ends a broken stream of Bedrock. */
export function encodeBedrockException(type: string, message: string): Buffer {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' };
  return encodeEventFrame(headers, Buffer.from(JSON.stringify({ message })));
}
