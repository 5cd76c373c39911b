import type { GatewayError } from '../inference/gateway-error.ts';
import type { InferenceEvent } from '../inference/inference-event.ts';
import type { InferenceReply } from '../inference/inference-reply.ts';
import type { BuiltInToolKind, InferenceRequest, MediaKind, ServerToolPart } from '../inference/inference-request.ts';
import type { ModelTraits } from '../inference/model-traits.ts';
import type { FieldNames, TranslationNotes } from '../inference/translation-notes.ts';
import type { Usage } from '../inference/usage.ts';
import type { Frame, StreamEvent, StreamFraming } from '../platform/frames.ts';
import type { JsonObject, JsonValue } from '../platform/json/json-value.ts';
import type { WireRequest } from './wire-request.ts';

/** The target of a request that is translated: a request for an upstream of another dialect is fitted to it. */
export type RequestFit = {
  readonly upstreamModel: string;
  readonly traits: ModelTraits;
  /**
   * The owner of the proofs that the upstream accepts. All other proofs are omitted, with the reasoning that they
   * prove.
   */
  readonly proofOrigin: string;
  readonly notes: TranslationNotes;
};

/** A request written for an upstream, and the data with which its replies are translated. */
export type EncodedRequest = {
  /** The body. It has the model and `stream` only if the dialect puts them into the body. */
  readonly body: JsonObject;
  /** Functions that had to be renamed: from the name in the body to the client's name. */
  readonly toolNames?: ReadonlyMap<string, string>;
  /** A tool that replaces structured output: its arguments are the text of the answer. */
  readonly answerTool?: string;
  /** Headers that the vendor requires for this body. A list that the client sent too is joined with it. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Stop sequences that the upstream does not support: the gateway cuts the reply at the first. */
  readonly cutAt?: readonly string[];
  /** False if the upstream cannot stream a reply to this request. The whole reply is then written as a stream. */
  readonly streams?: false;
};

/** The context for reading an upstream's reply. */
export type ReplyReading = {
  /** The owner of this upstream's proofs. */
  readonly proofOrigin: string;
  /** Makes an id with this prefix, for calls of vendors that assign none. */
  readonly newId: (prefix: string) => string;
  readonly notes: TranslationNotes;
};

/** The context for writing the reply to a compaction. */
export type CompactionWriting = {
  /** A response with one item, or the object of the compaction endpoint. */
  readonly form: 'response' | 'compacted';
  /** The input as it was sent, including the whole conversation. */
  readonly input: JsonValue | undefined;
  /** Encrypts a summary. Its client stores it and cannot read it. */
  readonly seal: (summary: string) => string;
};

/** The context for writing a reply for a client. */
export type ReplyWriting = {
  readonly requestId: string;
  readonly requestedModel: string;
  /** The request as the client sent it. Some dialects echo it, or derive from it which events they send. */
  readonly request: JsonObject;
  readonly createdAtMs: number;
  /** The time of day, for dialects that report when a reply was complete. */
  readonly nowMs: () => number;
  /** An estimate of the input, for dialects that report it before the upstream does. */
  readonly inputTokensEstimate: number;
  readonly newId: (prefix: string) => string;
  readonly notes: TranslationNotes;
  /** The id of the reply, if the gateway had to choose it before. */
  readonly replyId?: string;
  /** Present if the reply is the summary of a conversation. */
  readonly compaction?: CompactionWriting;
};

/** Reads the frames of an upstream's stream. Pure and synchronous; never throws for what an upstream sends. */
export type EventDecoder = {
  /**
   * The events of a frame. A frame that is not JSON, or has an unknown type, has none. Error frames are handled by the
   * tap.
   */
  readonly read: (frame: Frame) => readonly InferenceEvent[];
  /**
   * Called once, when the body has ended or the dialect's end mark has passed. Returns the events that were held until
   * the end. `finished` comes from here or from `read`, once, and only if the upstream reported that it had finished.
   */
  readonly end: () => readonly InferenceEvent[];
};

/** The position in a written stream, from which `encodeStreamError` ends it. */
export type StreamPosition = {
  readonly framesSent: number;
  readonly lastSequenceNumber?: number;
  readonly partialResponse?: JsonObject;
};

/**
 * Writes the client's stream from serialized events: one block after another (see serializeBlocks). `started` is always
 * first, but it may be held until there is content. Pure and synchronous.
 */
export type EventEncoder = {
  /** An event as framed text. Empty if the dialect has nothing to send for it yet. */
  readonly write: (event: InferenceEvent) => string;
  /**
   * The opening of the reply, if `write` holds it until the first content. Called if content takes too long. Absent if
   * `started` has written it.
   */
  readonly open?: () => string;
  readonly position: () => StreamPosition;
  /**
   * The reply until now as it is stored, including what the client did not request. Absent if replies of the dialect
   * are not stored.
   */
  readonly kept?: () => JsonObject;
};

/** The same as events without framing, for receivers of single events. */
export type StreamEventEncoder = Omit<EventEncoder, 'write' | 'open'> & {
  readonly write: (event: InferenceEvent) => readonly StreamEvent[];
};

/**
 * Translates requests for an upstream from the neutral form, and its replies to it. All functions are pure and
 * synchronous.
 */
export type UpstreamCodec = {
  readonly fieldNames: FieldNames;
  /** The media that an upstream of this dialect fetches from an address. Others are fetched for it. */
  readonly takesAddressOf: readonly MediaKind[];
  /** Whether an upstream of this dialect reads Word documents. If not, it receives their text. */
  readonly readsWordDocuments: boolean;
  /**
   * Writes a request for an upstream of this dialect. Losses go to `fit.notes`, which throws if the client refuses
   * losses.
   */
  readonly encodeRequest: (request: InferenceRequest, fit: RequestFit) => EncodedRequest;
  /**
   * Whether an upstream of this dialect enforces the whole output format that `encodeRequest` writes. False if a part
   * of it is only a text instruction, or if a function replaces it.
   */
  readonly holdsFormat: (request: InferenceRequest, traits: ModelTraits) => boolean;
  /** Writes a request for the vendor's token counter. Absent if the dialect has none. */
  readonly encodeCountRequest?: (request: InferenceRequest, fit: RequestFit) => JsonObject;
  /** Reads the answer of the vendor's counter. Undefined if it has no count. */
  readonly decodeCount?: (reply: unknown) => number | undefined;
  readonly decodeReply: (reply: unknown, reading: ReplyReading) => InferenceReply;
  readonly createEventDecoder: (reading: ReplyReading, framing: StreamFraming) => EventDecoder;
  /**
   * Classifies an upstream's error, so that another dialect can word it. `message` has no credential in it. Returns a
   * GatewayError with the code of the class and the status for the client.
   */
  readonly decodeError: (reply: UpstreamErrorReply) => GatewayError;
  /**
   * Whether a reply of this dialect reports the stop sequence that ended it. If not, such an end looks like any other.
   */
  readonly saysStopSequence: boolean;
};

/** Translates a chat dialect's wire format to and from the neutral form, for clients and upstreams. */
export type ChatCodec = UpstreamCodec & {
  /** The names by which a request's tool choice refers to each built-in tool, without the date that some end in. */
  readonly toolNames: Readonly<Record<BuiltInToolKind, readonly string[]>>;
  /** The prefixes of ids by which clients recognise the work of each built-in tool. */
  readonly toolIdPrefixes: Readonly<Record<ServerToolPart['tool'], string>>;
  /**
   * Reads a validated request. Throws a GatewayError that names the field if it has no neutral form (arguments that are
   * not JSON, several candidates) or refers to state at the vendor.
   */
  readonly decodeRequest: (request: WireRequest) => InferenceRequest;
  /** Writes the counter's answer for a client. Absent if the dialect has no counter. */
  readonly encodeCount?: (inputTokens: number) => JsonObject;
  /**
   * The form of the reply if the request compacts its conversation, otherwise undefined. Absent if the dialect has no
   * such request.
   */
  readonly compactionOf?: (request: WireRequest) => CompactionWriting['form'] | undefined;
  readonly encodeReply: (reply: InferenceReply, writing: ReplyWriting) => JsonObject;
  readonly createEventEncoder: (writing: ReplyWriting, framing: StreamFraming) => EventEncoder;
  /**
   * The usage as this dialect's replies report it. Unknown counts are omitted if the dialect permits it, and are
   * otherwise 0.
   */
  readonly encodeUsage: (usage: Usage) => JsonObject;
  /**
   * Removes proofs of other vendors (see wrapProof), and the reasoning that they prove, from a request of this dialect
   * that is passed to its own vendor. Returns the same object if there are none.
   * @param all also those of the vendor: an upstream has refused one, which another account made
   */
  readonly removeForeignProofs: (body: JsonObject, all?: boolean) => JsonObject;
  /**
   * Whether a reply of this dialect can report that generation failed. If not, an error reports it, because such a
   * reply would look complete.
   */
  readonly saysFailure: boolean;
};

export type UpstreamErrorReply = {
  readonly status: number;
  /** The body if it was JSON. */
  readonly body: unknown;
  readonly retryAfterSeconds?: number;
};
