import type { GatewayError } from '../../inference/gateway-error.ts';
import { StreamEvent } from '../../platform/frames.ts';
import { formatSse } from '../../platform/sse/encode-sse.ts';
import type { StreamPosition } from '../chat-codec.ts';
import type { StreamErrorOptions } from '../error-voice.ts';
import { createErrorBody } from './encode-error.ts';

/**
 * The vendor's `response.error.code` is a closed list. These entries can occur in a gateway, with the code after which
 * agents shorten their input.
 */
const responseCodes = new Set(['rate_limit_exceeded', 'insufficient_quota', 'invalid_prompt', 'context_length_exceeded']);

/** A wrong request is an invalid prompt there, because agents retry after a `server_error`. */
function wordResponseCode({ code, type }: ReturnType<typeof createErrorBody>, status: number): string {
  if (code !== null && responseCodes.has(code)) return code;
  return type === 'invalid_request_error' && status < 500 ? 'invalid_prompt' : 'server_error';
}

/**
 * Ends a broken stream. An `error` event comes first, both nested (as the vendor sends it and its SDK throws it) and
 * flat (as the vendor documents it). `response.failed` follows, with the known part of the response. The numbering of
 * events continues.
 */
export function describeStreamError(error: GatewayError, position: StreamPosition): readonly StreamEvent[] {
  const body = createErrorBody(error);
  // One event is one frame and numbers start at 0, so without sequence numbers the count of frames is the next number.
  const sequenceNumber = position.lastSequenceNumber === undefined ? position.framesSent : position.lastSequenceNumber + 1;
  const code = wordResponseCode(body, error.status);
  const errorEvent = {
    type: 'error',
    sequence_number: sequenceNumber,
    code: body.code ?? code,
    message: body.message,
    param: body.param,
    error: body,
  };
  const failedEvent = {
    type: 'response.failed',
    sequence_number: sequenceNumber + 1,
    response: {
      object: 'response',
      output: [],
      usage: null,
      ...position.partialResponse,
      status: 'failed',
      error: { code, message: body.message },
    },
  };
  return [errorEvent, failedEvent].map((event) => new StreamEvent(event.type, JSON.stringify(event)));
}

export function encodeStreamError(error: GatewayError, options: StreamErrorOptions): Buffer {
  const { lastSequenceNumber, partialResponse, framesSent } = options;
  const position = {
    framesSent,
    ...(lastSequenceNumber === undefined ? {} : { lastSequenceNumber }),
    ...(partialResponse === undefined ? {} : { partialResponse }),
  };
  return Buffer.from(describeStreamError(error, position).map(formatSse).join(''));
}
