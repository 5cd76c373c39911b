import type { Steering } from './steering.ts';

/** JSON as the simulator reads and writes it. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json | undefined };
export type JsonRecord = { [member: string]: Json | undefined };

/** What a vendor's format asked for, in the simulator's own words: the input of the reply plan. */
export type PlanRequest = {
  readonly model: string;
  /** All text of the prompt, in order, joined by newlines. Replies are derived from it and counts are made of it. */
  readonly promptText: string;
  /** Text of the last user turn, for the reply to mention. */
  readonly lastUserText: string;
  /** Number of inline images, audio clips and documents, each counted as a fixed number of input tokens. */
  readonly mediaCount: number;
  readonly tools: readonly { readonly name: string; readonly schema: JsonRecord }[];
  /** `auto` calls tools when the prompt's last turn is a user turn and not a tool result; `required` always; `none` never. */
  readonly toolChoice: 'auto' | 'required' | 'none' | { readonly name: string };
  readonly parallelToolCalls: boolean;
  /** True when the last turn brings tool results: then the model answers with text. */
  readonly answersToolResult: boolean;
  /** The schema that the text must follow, when structured output was asked for; `{}` for any JSON object. */
  readonly outputSchema?: JsonRecord;
  readonly stopSequences: readonly string[];
  readonly outputTokensMax?: number;
  /** Present when thinking is on. */
  readonly thinking?: { readonly budgetTokens?: number };
  /** Length in characters of the prompt prefix marked for caching (0 = none), and the lifetime asked for. */
  readonly cachedPrefixCharacters: number;
  readonly cacheLifetime: '5m' | '1h';
  /** True when the tool definitions lie inside the marked prefix too, even if it holds no text. */
  readonly cachedTools?: boolean;
  /** True where writing to the cache costs nothing: then the tokens written count as plain input and `cacheWriteTokens` is 0. */
  readonly freeCacheWrites?: boolean;
};

/** What the simulated model answers: decided once, then written in the vendor's format. The same request and seed give the same plan. */
export type ReplyPlan = {
  /** A random-looking id part, the same for the same request, seed and call number. */
  readonly id: string;
  readonly createdAtSeconds: number;
  readonly reasoning?: { readonly text: string; readonly signature: string };
  readonly text?: string;
  readonly refusal?: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: JsonRecord }[];
  readonly stop: 'end' | 'max-tokens' | 'stop-sequence' | 'tool-use' | 'refusal' | 'content-filter' | 'pause';
  readonly stopSequence?: string;
  readonly usage: PlannedUsage;
  /** Output tokens in one frame of a streamed reply, for `splitText`. Absent: the writer's own choice. */
  readonly tokensPerFrame?: number;
  /** True when the reply shall carry a content block (item, part) of a type that no client knows. A format without such a place ignores it. */
  readonly unknownBlock?: boolean;
};

/** Disjoint counts, like a careful bookkeeper's. Vendors add them up as their formats demand. */
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

/** A request as a vendor's route sees it. */
export type SimulatedRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Parsed JSON body; undefined for requests without one. */
  readonly body: JsonRecord | undefined;
  /** The id given to this call, as the vendor's reply header and error bodies name it (`req_…`). */
  readonly requestId?: string;
  /** Wall clock of the call, for the headers and bodies that carry a time. */
  readonly nowMs?: number;
  /** What this vendor remembers between calls. Absent in tests that need none. */
  readonly memory?: VendorMemory;
};

/**
 * What a simulated vendor remembers from call to call (threads, stored responses), per vendor and simulator, emptied by reset(). Bounded:
 * the oldest entries are forgotten first. What a call writes is kept only if the call is answered.
 */
export type VendorMemory = {
  readonly get: (key: string) => Json | undefined;
  readonly set: (key: string, value: Json) => void;
  readonly delete: (key: string) => void;
};

export type PlanReply = (request: PlanRequest) => ReplyPlan;

/**
 * A reply before faults and pacing. `whole` is sent at once; `stream` is sent frame by frame at the configured pace. `contentFrames`
 * names the frames that carry generated content, so that faults can strike before the first or in the middle.
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
      /** For each frame, output tokens that it delivers (0 for frames without content): paces the stream and tells the truth of a cut one. */
      readonly frameTokens: readonly number[];
      /** Index of the first frame with generated content. */
      readonly firstContentFrame: number;
      /** How the vendor reports a failure inside a running stream. */
      readonly errorFrame: string;
      /** An event that no client knows, in the vendor's framing. Absent: one is made from the framing of the other frames. */
      readonly unknownFrame?: string;
      readonly plan: ReplyPlan;
    };

/** What a call about media really took and made, for the record of calls. Absent members are not what its model is paid by. */
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
  /** Output tokens that each frame of a stream delivers, at least 1 for each with content: they pace it. Absent: the reply is whole and has one frame. */
  readonly frameTokens?: readonly number[];
  /** How the vendor reports a failure inside a stream of events. */
  readonly errorFrame?: string;
  readonly media?: PlannedMedia;
};

/** What a route about media needs beside the request. */
export type MediaCall = {
  /** The bytes of the body as they came: a form, or JSON that `request.body` holds already. */
  readonly bytes: Buffer;
  readonly seed: string;
  /** Adds what a directive in a text of the request asks for, and tells all that is asked for. Headers win. */
  readonly steer: (text: string) => Steering;
  /** Keeps the fields of a form in the record of the call; files as their name, type and length. */
  readonly keepForm: (fields: JsonRecord) => void;
};

/** One vendor's interface. Its routes answer in that vendor's native format and refuse, in that vendor's words, what the vendor would refuse. */
export type SimulatedVendor = {
  readonly name: 'anthropic' | 'openai' | 'gemini' | 'xai';
  /** Checks the credential as the vendor does; throws VendorError 401 (or the vendor's own status) when it is missing. */
  readonly authenticate: (request: SimulatedRequest) => void;
  /** Answers a request, or returns undefined when there is no such route. Throws VendorError to refuse. */
  readonly handle: (request: SimulatedRequest, planReply: PlanReply) => SimulatedReply | undefined;
  /**
   * Answers requests whose body is a form or whose reply takes time to make; undefined where there is no such route, and then `handle` is asked. Rejects with
   * VendorError to refuse.
   */
  readonly handleMedia?: (request: SimulatedRequest, call: MediaCall) => Promise<MediaReply> | undefined;
  /** Routes that ask for no credential, as servers at home have them. */
  readonly isOpen?: (request: SimulatedRequest) => boolean;
  /** The vendor's body for a fault status asked for by header (429, 500, 529, …). */
  readonly errorBody: (status: number, message: string, requestId?: string) => Json;
  /** How the vendor refuses a prompt that is longer than the model's context, in this format. */
  readonly refuseLongPrompt: (request: SimulatedRequest) => VendorError;
  readonly notFoundBody: (request: SimulatedRequest) => Json;
  /** How the vendor refuses a credential that it does not know. Absent: 401 with the vendor's `errorBody`. */
  readonly refuseCredential?: (credential: string, request: SimulatedRequest) => VendorError;
  /** Headers that the vendor puts on every reply, refusals included: request id, rate limits, versions. The reply's own headers win. */
  readonly commonHeaders?: (request: SimulatedRequest) => Readonly<Record<string, string>>;
};
