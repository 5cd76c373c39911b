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
  /**
   * Frames already sent to the client. From this an array stream knows whether it needs a comma, and a sequence its
   * next number.
   */
  readonly framesSent: number;
  /** From the tap's report, if the upstream's stream had begun. */
  readonly lastSequenceNumber?: number | undefined;
  readonly partialResponse?: JsonObject | undefined;
};

/**
 * How an interface writes the gateway's own messages: errors, the end of a broken stream, heartbeats and a caller's
 * limits. Every endpoint has one; several endpoints may share it. All functions are pure and synchronous.
 */
export type ErrorVoice = {
  /**
   * The body, status and headers of an error. The body has the members of the contract and those that the SDKs read.
   * `framing` is the framing of the requested stream, if any: an array stream is answered with an array.
   */
  readonly encodeError: (error: GatewayError, requestId: string, framing?: StreamFraming) => HttpReply;
  /**
   * The bytes that end a broken stream, so that no client takes it for a whole answer. Written at a frame boundary.
   */
  readonly encodeStreamError: (error: GatewayError, options: StreamErrorOptions) => Buffer;
  /** Bytes without meaning that keep a silent stream alive, written at a frame boundary. */
  readonly heartbeat: (framing: StreamFraming) => Buffer;
  /** The headers that report a caller's limits to this interface's clients; none if it has none. */
  readonly rateLimitHeaders: (state: RateLimitState, nowMs: number) => Readonly<Record<string, string>>;
};
