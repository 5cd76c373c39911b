import type { Json, JsonRecord } from './read-json.ts';
import type { ReplyStop, Steering } from './steering.ts';

export type { Json, JsonRecord };

/** A request in the simulator's neutral form: the input of the reply plan. */
export type PlanRequest = {
  readonly model: string;
  /** All text of the prompt, in order, joined by newlines. Replies and counts are derived from it. */
  readonly promptText: string;
  /** Text of the last user turn, which the reply mentions. */
  readonly lastUserText: string;
  /** Number of inline images, audio clips and documents, each counted as a fixed number of input tokens. */
  readonly mediaCount: number;
  readonly tools: readonly { readonly name: string; readonly schema: JsonRecord }[];
  /**
   * `auto` calls tools if the prompt's last turn is a user turn and not a tool result; `required` always; `none` never.
   */
  readonly toolChoice: 'auto' | 'required' | 'none' | { readonly name: string };
  readonly parallelToolCalls: boolean;
  /** True if the last turn has tool results: then the model answers with text. */
  readonly answersToolResult: boolean;
  /** The schema of a structured output; `{}` for any JSON object. */
  readonly outputSchema?: JsonRecord;
  readonly stopSequences: readonly string[];
  readonly outputTokensMax?: number;
  /** Present if thinking is on. */
  readonly thinking?: { readonly budgetTokens?: number };
  /** Length in characters of the prompt prefix marked for caching (0 = none), and the requested lifetime. */
  readonly cachedPrefixCharacters: number;
  readonly cacheLifetime: '5m' | '1h';
  /** True if the tool definitions are inside the marked prefix too, even if it has no text. */
  readonly cachedTools?: boolean;
  /** True if writing to the cache is free: then the written tokens count as plain input and `cacheWriteTokens` is 0. */
  readonly freeCacheWrites?: boolean;
};

/**
 * The simulated model's answer: planned once, then written in the vendor's format. The same request and seed give the
 * same plan.
 */
export type ReplyPlan = {
  /** A random-looking id part, the same for the same request, seed and call number. */
  readonly id: string;
  readonly createdAtSeconds: number;
  readonly reasoning?: { readonly text: string; readonly signature: string };
  readonly text?: string;
  readonly refusal?: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: JsonRecord }[];
  readonly stop: ReplyStop;
  readonly stopSequence?: string;
  readonly usage: PlannedUsage;
  /** Output tokens in one frame of a streamed reply, for `splitText`. Absent: the writer's own choice. */
  readonly tokensPerFrame?: number;
  /** True if the reply must have a content block (item, part) of an unknown type. Formats without blocks ignore it. */
  readonly unknownBlock?: boolean;
};

/** Disjoint counts. Vendors add them up as their formats require. */
export type PlannedUsage = {
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheLifetime: '5m' | '1h';
  /** Includes reasoningTokens. */
  readonly outputTokens: number;
  readonly reasoningTokens: number;
};

/** A refusal in the vendor's own error format. */
export class VendorError extends Error {
  readonly status: number;
  readonly body: Json;
  constructor(status: number, body: Json, message: string) {
    super(message);
    this.name = 'VendorError';
    this.status = status;
    this.body = body;
  }
}

/** A request to a vendor's route. */
export type SimulatedRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Parsed JSON body; undefined for requests without one. */
  readonly body: JsonRecord | undefined;
  /** The id of this call, as the vendor's reply header and error bodies name it (`req_…`). */
  readonly requestId?: string;
  /** Wall clock of the call, for headers and bodies with a time. */
  readonly nowMs?: number;
  /** This vendor's memory between calls. Absent in tests that need none. */
  readonly memory?: VendorMemory;
};

/**
 * A simulated vendor's state between calls (threads, stored responses), per vendor and simulator, emptied by reset().
 * Bounded: the oldest entries are forgotten first. Writes of a call are kept only if the call is answered.
 */
export type VendorMemory = {
  readonly get: (key: string) => Json | undefined;
  readonly set: (key: string, value: Json) => void;
  readonly delete: (key: string) => void;
};

export type PlanReply = (request: PlanRequest) => ReplyPlan;

/**
 * A reply before faults and pacing. `whole` is sent at once; `stream` is sent frame by frame at the configured pace.
 * `contentFrames` names the frames with generated content, so that faults can apply before the first or in the middle.
 */
export type SimulatedReply =
  | {
      readonly type: 'whole';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly plan?: ReplyPlan;
    }
  | {
      readonly type: 'stream';
      readonly headers: Readonly<Record<string, string>>;
      /** The exact bytes of each event, framing included, as the vendor writes them. */
      readonly frames: readonly string[];
      /**
       * For each frame, the output tokens that it delivers (0 for frames without content): they pace the stream and
       * give the true count of a cut one.
       */
      readonly frameTokens: readonly number[];
      /** Index of the first frame with generated content. */
      readonly firstContentFrame: number;
      /** How the vendor reports a failure inside a running stream. */
      readonly errorFrame: string;
      /** An unknown event, in the vendor's framing. Absent: one is made from the framing of the other frames. */
      readonly unknownFrame?: string;
      readonly plan: ReplyPlan;
    };

/** The consumed and generated media of a call, for the record of calls. Absent members do not affect the price. */
export type PlannedMedia = {
  /** Unicode code points of the text to be spoken. */
  readonly inputCharacters?: number;
  readonly inputAudioMs?: number;
  readonly outputAudioMs?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
};

/** The reply to a call about media, before faults and pacing: text or bytes, at once or in frames. */
export type MediaReply = {
  readonly type: 'media';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The one body, or the frames of a stream. */
  readonly frames: readonly (string | Uint8Array)[];
  /**
   * Output tokens that each frame of a stream delivers, at least 1 for each with content: they pace it. Absent: the
   * reply is whole and has one frame.
   */
  readonly frameTokens?: readonly number[];
  /** How the vendor reports a failure inside a stream of events. */
  readonly errorFrame?: string;
  readonly media?: PlannedMedia;
};

/** The needs of a media route besides the request. */
export type MediaCall = {
  /** The received bytes of the body: a form, or JSON that `request.body` also has. */
  readonly bytes: Buffer;
  readonly seed: string;
  /** Adds the settings of a directive in the request's text, and returns all settings. Headers win. */
  readonly steer: (text: string) => Steering;
  readonly planReply: PlanReply;
  /** Stores the fields of a form in the record of the call; files as their name, type and length. */
  readonly keepForm: (fields: JsonRecord) => void;
};

/**
 * One vendor's interface. Its routes answer in that vendor's native format and refuse, with that vendor's messages,
 * what the vendor would refuse.
 */
export type SimulatedVendor = {
  readonly name: 'anthropic' | 'openai' | 'gemini' | 'xai';
  /** Checks the credential as the vendor does; throws VendorError 401 (or the vendor's own status) if it is missing. */
  readonly authenticate: (request: SimulatedRequest) => void;
  /** Answers a request, or returns undefined if the route is unknown. Throws VendorError to refuse. */
  readonly handle: (request: SimulatedRequest, planReply: PlanReply) => SimulatedReply | undefined;
  /**
   * Answers requests whose body is a form or whose reply takes time to generate. If it returns undefined, `handle` is
   * called. Rejects with VendorError to refuse.
   */
  readonly handleMedia?: (request: SimulatedRequest, call: MediaCall) => Promise<MediaReply | SimulatedReply> | undefined;
  /** Routes without a credential, as self-hosted servers have them. */
  readonly isOpen?: (request: SimulatedRequest) => boolean;
  /** The vendor's body for a fault status from a header (429, 500, 529, …). */
  readonly errorBody: (status: number, message: string, requestId?: string) => Json;
  /** How the vendor refuses a prompt that is longer than the model's context, in this format. */
  readonly refuseLongPrompt: (request: SimulatedRequest) => VendorError;
  readonly notFoundBody: (request: SimulatedRequest) => Json;
  /** How the vendor refuses an unknown credential. Absent: 401 with the vendor's `errorBody`. */
  readonly refuseCredential?: (credential: string, request: SimulatedRequest) => VendorError;
  /**
   * Headers of every reply of the vendor, refusals included: request id, rate limits, versions. The reply's own headers
   * win.
   */
  readonly commonHeaders?: (request: SimulatedRequest) => Readonly<Record<string, string>>;
};
