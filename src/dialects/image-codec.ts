import type { ImageReply } from '../inference/image.ts';
import type { InferenceRequest } from '../inference/inference-request.ts';
import type { StreamFraming } from '../platform/frames.ts';
import type { WireRequest } from './wire-request.ts';

/** A chat request for image output. */
export type ImageChatRequest = {
  /** The request without its image settings. */
  readonly chat: InferenceRequest;
  readonly count: number;
  /** `16:9`. */
  readonly aspectRatio?: string;
  /** The size class: `1k`, `2k`, `4k`. */
  readonly resolution?: string;
};

/** The context for encoding an image reply. */
export type ImageReplyWriting = {
  readonly requestId: string;
  readonly requestedModel: string;
  /** The framing of the requested stream; undefined for a reply that is not streamed. */
  readonly framing: StreamFraming | undefined;
};

/** Decodes image requests of a chat dialect and encodes image replies for its clients. */
export type ImageCodec = {
  /** The model name in a request. */
  readonly modelOf: (request: WireRequest) => string;
  /**
   * Decodes a valid request. Undefined if it does not request images.
   * @throws GatewayError for settings that image models do not support
   */
  readonly decode: (request: WireRequest) => ImageChatRequest | undefined;
  /** Encodes a reply with all its images; for a stream, all its frames. */
  readonly encode: (reply: ImageReply, writing: ImageReplyWriting) => Buffer;
};
