/**
 * How a video is made: from text, from a first image, from reference images, or by changing or extending another video.
 */
export type VideoMode = 'text' | 'image' | 'references' | 'remix' | 'extension';

/** The status of a video for clients (contract A, section 3). */
export type VideoStatus = 'queued' | 'in_progress' | 'completed' | 'failed';

/** An image or video in a request: an address, inline data, or a video that the gateway made before. */
export type VideoInput =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly kind: 'task'; readonly taskId: string };

/** The interface of the request that created a task. The task's object is written in the same interface. */
export type VideoForm = 'video-generations' | 'openai-videos' | 'xai-videos';

/**
 * A client's request, in any interface. Absent: the client left the field out, and the upstream's protocol applies its
 * own default.
 */
export type VideoRequest = {
  readonly form: VideoForm;
  readonly mode: VideoMode;
  readonly requestedModel: string;
  readonly prompt: string;
  /** Whole seconds. Absent in remixes, which are as long as their input. */
  readonly durationSeconds?: number;
  /** The first image in mode `image`, the references in mode `references`; empty otherwise. */
  readonly images: readonly VideoInput[];
  /** The video that is changed or extended. */
  readonly video?: VideoInput;
  /** `480p`, `720p` or another resolution of the model. */
  readonly resolution?: string;
  /** For example `16:9`. */
  readonly aspectRatio?: string;
  readonly user?: string;
  /**
   * The object `metadata` exactly as the client wrote it: a JSON text, `{}` if there was none. It is forwarded and
   * returned from this text, never from a parsed copy.
   */
  readonly metadata: string;
  /**
   * Members that the form of the request does not define, as a JSON text like `metadata`. They are sent only to
   * upstreams of the same interface; notes name them to the client otherwise. Absent: there are none.
   */
  readonly extraFields?: string;
  /** The address that receives the callback at the end. */
  readonly callbackUrl?: string;
};

/** The reason of a failed video, for clients (`error.code` of the task). */
type VideoErrorCode =
  | 'content_moderated'
  | 'upstream_rejected'
  | 'upstream_failed'
  | 'upstream_timeout'
  | 'task_expired'
  | 'task_lost'
  | 'submission_lost'
  | 'result_unavailable'
  | 'canceled';

export type VideoError = { readonly code: VideoErrorCode; readonly message: string };
