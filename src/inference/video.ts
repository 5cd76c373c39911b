/** How a video is made: from words, from a first picture, from pictures of what is to be in it, or by changing or lengthening another video. */
export type VideoMode = 'text' | 'image' | 'references' | 'remix' | 'extension';

/** Where a video stands, as clients are told (contract A, section 3). */
export type VideoStatus = 'queued' | 'in_progress' | 'completed' | 'failed';

/** A picture or video that a request brings: by its address, as it is, or as a video that the gateway made before. */
export type VideoInput =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly kind: 'task'; readonly taskId: string };

/** The interface through which a task came: its object is written in the same one. */
export type VideoForm = 'video-generations' | 'openai-videos' | 'xai-videos';

/** What a client asked for, whatever interface it spoke. Fields that it left out are absent, so that the upstream's protocol decides on its own defaults. */
export type VideoRequest = {
  readonly form: VideoForm;
  readonly mode: VideoMode;
  readonly requestedModel: string;
  readonly prompt: string;
  /** Whole seconds. Absent in remixes, whose length is that of their input. */
  readonly durationSeconds?: number;
  /** The first picture in mode `image`, the references in mode `references`; empty otherwise. */
  readonly images: readonly VideoInput[];
  /** The video that is changed or lengthened. */
  readonly video?: VideoInput;
  /** `480p`, `720p` or another that the model has. */
  readonly resolution?: string;
  /** `16:9` and the like. */
  readonly aspectRatio?: string;
  readonly user?: string;
  /**
   * The object `metadata` as its client wrote it, digit by digit: a JSON text, `{}` where there was none. It is forwarded from this text and returned from it, never from a
   * parsed copy.
   */
  readonly metadata: string;
  /**
   * Members of the request that its form does not name, as a JSON text like `metadata`. They go to upstreams of the same interface only, and are named to the client where they
   * cannot go. Absent where there are none.
   */
  readonly furtherFields?: string;
  /** Where the client wants to be told of the end. */
  readonly callbackUrl?: string;
};

/** Why a video failed, in words that clients may look at (`error.code` of the task). */
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
