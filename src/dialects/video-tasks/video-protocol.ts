import type { PricingParameters, Usage } from '../../inference/usage.ts';
import type { VideoError, VideoRequest } from '../../inference/video.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';

/**
 * The upstream interface for videos: xAI's, OpenAI's, Google's two, or that of a gateway that speaks document A, for
 * example another Weir.
 */
export type VideoProtocolId = 'xai-videos' | 'openai-videos' | 'gemini-videos' | 'vertex-videos' | 'video-generations';

/**
 * The usage that is billed for a video. It is read from the bytes that are sent, so that the bill matches the forwarded
 * request.
 */
export type VideoBilling = {
  /** The highest possible usage, which is held. */
  readonly usage: Usage;
  readonly parameters: PricingParameters;
};

/** A request for an upstream. */
export type VideoSubmission = {
  /** Below the base address, or the method of the model for vendors that place it. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly billing: VideoBilling;
  /** Fields that this interface cannot express and that were left out, so that the client can be notified. */
  readonly ignored: readonly string[];
};

/** From where a finished video is fetched. */
export type VideoResult =
  /** From an address, possibly of another server. The credential is sent only if the address is the upstream's own. */
  | { readonly kind: 'url'; readonly url: string }
  /** From a bucket of the account, with the credential: `gs://bucket/name`. */
  | { readonly kind: 'object'; readonly uri: string }
  /** From a path of the upstream's interface, with the credential. */
  | { readonly kind: 'path'; readonly path: string }
  /** In a POST's reply, as the value in base64 of the first member with this name. */
  | { readonly kind: 'reply'; readonly path: string; readonly body: string; readonly member: string };

/**
 * An upstream's report on a video. `unclear` is a report without information: an unknown status, an empty body, an
 * error of a gateway on the way. It does not change the task. `missing`: the upstream says that the video does not
 * exist.
 */
export type UpstreamVideo =
  | { readonly status: 'queued' | 'in_progress'; readonly progress?: number }
  | {
      readonly status: 'completed';
      readonly result: VideoResult;
      /** The length of the video, if the upstream reports it. */
      readonly durationMs?: number;
      /** The vendor's own numbers, stored as evidence. */
      readonly raw?: JsonValue;
    }
  /** `isBilled`: the vendor charges for it anyway, for example for output that its moderation withheld. */
  | {
      readonly status: 'failed';
      readonly error: VideoError;
      readonly isBilled: boolean;
      readonly durationMs?: number;
      readonly raw?: JsonValue;
    }
  | { readonly status: 'missing' }
  | { readonly status: 'unclear'; readonly reason: string };

/**
 * The answer to a submission. The client receives a refusal. Any other answer without an id leaves it unknown whether
 * the upstream works on the video.
 */
export type SubmissionAnswer =
  | { readonly type: 'accepted'; readonly upstreamTaskId: string; readonly video: UpstreamVideo }
  | { readonly type: 'refused'; readonly status: number; readonly message: string; readonly param?: string }
  | { readonly type: 'unclear'; readonly reason: string };

export type WholeReply = { readonly status: number; readonly body: Buffer };

/** Settings of the account that requests contain. */
export type VideoAccount = {
  /** The bucket into which finished videos are written. Absent: none. */
  readonly videoBucket?: { readonly uri: string };
};

/** One upstream interface for videos: pure functions and data. The gateway does the I/O. */
export type VideoProtocol = {
  readonly id: VideoProtocolId;
  /** Whether a repeated request with the same `idempotency-key` creates no second video. */
  readonly isIdempotent: boolean;
  /** @throws GatewayError for requests that this interface cannot express */
  readonly encodeSubmission: (request: VideoRequest, upstreamModel: string, account?: VideoAccount) => VideoSubmission;
  readonly readSubmission: (reply: WholeReply) => SubmissionAnswer;
  /** Path of the request that returns the status of a video. */
  readonly statusPath: (upstreamTaskId: string) => string;
  /** The body of this request, if it is a POST. Absent: it is a GET. */
  readonly statusBody?: (upstreamTaskId: string) => Buffer;
  /** Whether the status of a finished video contains its file as a long text. Absent: no. */
  readonly statusHasFile?: boolean;
  readonly readStatus: (reply: WholeReply, upstreamTaskId: string) => UpstreamVideo;
  /** Path of the DELETE that removes a video at the upstream, if there is one. */
  readonly deletePath?: (upstreamTaskId: string) => string;
};
