import type { PricingParameters, Usage } from '../../inference/usage.ts';
import type { VideoError, VideoRequest } from '../../inference/video.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';

/** How an upstream makes videos: xAI's interface, OpenAI's, or that of a gateway that speaks document A, such as another Weir. */
export type VideoProtocolId = 'xai-videos' | 'openai-videos' | 'video-generations';

/** What a video costs, read from the very bytes that are sent, so that nothing is billed but what is forwarded. */
export type VideoBilling = {
  /** The most that it can come to: what is held. */
  readonly usage: Usage;
  readonly parameters: PricingParameters;
};

/** A request as it goes to an upstream. Paths stand below the base address. */
export type VideoSubmission = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly billing: VideoBilling;
  /** Fields that this interface has no place for and that were left out, for the client to be told of. */
  readonly ignored: readonly string[];
};

/** Where a finished video is to be fetched. */
export type VideoResult =
  /** At an address, which may be of another server; the credential goes there only if it is the upstream's own. */
  | { readonly kind: 'url'; readonly url: string }
  /** At a path of the upstream's interface, with the credential. */
  | { readonly kind: 'path'; readonly path: string };

/**
 * What an upstream says of a video. `unclear` is everything that tells nothing: a status nobody has heard of, an empty body, an error of a gateway on the way. It changes
 * nothing about the task. `missing` is the upstream saying that it knows no such video.
 */
export type UpstreamVideo =
  | { readonly status: 'queued' | 'in_progress'; readonly progress?: number }
  | {
      readonly status: 'completed';
      readonly result: VideoResult;
      /** How long the video is, where the upstream says so. */
      readonly durationMs?: number;
      /** The vendor's own figures, kept as evidence. */
      readonly raw?: JsonValue;
    }
  /** `isBilled`: the vendor charges for it all the same, such as for output that its moderation withheld. */
  | {
      readonly status: 'failed';
      readonly error: VideoError;
      readonly isBilled: boolean;
      readonly durationMs?: number;
      readonly raw?: JsonValue;
    }
  | { readonly status: 'missing' }
  | { readonly status: 'unclear'; readonly reason: string };

/** An answer to a submission. A refusal is for the client; anything else that tells of no id leaves it unknown whether the upstream works on it. */
export type SubmissionAnswer =
  | { readonly type: 'accepted'; readonly upstreamTaskId: string; readonly video: UpstreamVideo }
  | { readonly type: 'refused'; readonly status: number; readonly message: string; readonly param?: string }
  | { readonly type: 'unclear'; readonly reason: string };

export type WholeReply = { readonly status: number; readonly body: Buffer };

/** One upstream interface of videos: pure functions and data. The gateway does the I/O. */
export type VideoProtocol = {
  readonly id: VideoProtocolId;
  /** Whether the same request sent again with the same `idempotency-key` makes no second video. */
  readonly isIdempotent: boolean;
  /** @throws GatewayError for what this interface cannot say */
  readonly encodeSubmission: (request: VideoRequest, upstreamModel: string) => VideoSubmission;
  readonly readSubmission: (reply: WholeReply) => SubmissionAnswer;
  /** Path of the GET that asks how a video stands. */
  readonly statusPath: (upstreamTaskId: string) => string;
  readonly readStatus: (reply: WholeReply, upstreamTaskId: string) => UpstreamVideo;
  /** Path of the DELETE that removes a video at the upstream, where there is one. */
  readonly deletePath?: (upstreamTaskId: string) => string;
};
