import type { GatewayError } from '../inference/gateway-error.ts';
import type { RateLimitState } from '../inference/rate-limit-state.ts';
import type { StreamFraming } from '../platform/frames.ts';
import type { JsonObject } from '../platform/json/json-value.ts';

/** An HTTP answer ready to be written. */
export type HttpReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

export type StreamErrorOptions = {
  readonly framing: StreamFraming;
  readonly requestId: string;
  /** Frames already sent to the client: an array stream needs to know whether a comma is due, a sequence where it stands. */
  readonly framesSent: number;
  /** From the tap's report, where the upstream's stream had begun. */
  readonly lastSequenceNumber?: number | undefined;
  readonly partialResponse?: JsonObject | undefined;
};

/**
 * How an interface words what the gateway itself has to say: errors, the end of a broken stream, signs of life, and where a caller stands with its
 * limits. Every endpoint has one; several endpoints may share it. All functions are pure and synchronous.
 */
export type ErrorVoice = {
  /**
   * The body, status and headers of an error: a superset that the contract's readers and the SDKs both understand.
   * `framing` is that of the stream the client asked for, if it asked for one: an array stream is answered with an array.
   */
  readonly encodeError: (error: GatewayError, requestId: string, framing?: StreamFraming) => HttpReply;
  /** The bytes that end a broken stream, so that no client takes what it has for a whole answer. Written at a frame boundary. */
  readonly encodeStreamError: (error: GatewayError, options: StreamErrorOptions) => Buffer;
  /** Bytes that keep a silent stream alive and mean nothing, written at a frame boundary. */
  readonly heartbeat: (framing: StreamFraming) => Buffer;
  /** The headers by which this interface's clients learn where they stand with their limits; none where it has none. */
  readonly rateLimitHeaders: (standing: RateLimitState, nowMs: number) => Readonly<Record<string, string>>;
};
