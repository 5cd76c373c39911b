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

/** What a request is fitted to when it is written for an upstream of another dialect. */
export type RequestFit = {
  readonly upstreamModel: string;
  readonly traits: ModelTraits;
  /** Whose proofs the upstream accepts; all others are left out, together with the reasoning they prove. */
  readonly proofOrigin: string;
  readonly notes: TranslationNotes;
};

/** A request written for an upstream, and what its replies need before the client's dialect can say them. */
export type EncodedRequest = {
  /** The body, without the model where the dialect puts it into the path, and with `stream` where the dialect puts it into the body. */
  readonly body: JsonObject;
  /** Functions that had to be renamed: the name that was sent, and the client's. */
  readonly toolNames?: ReadonlyMap<string, string>;
  /** A tool that stands in for structured output: its arguments are the answer's text. */
  readonly answerTool?: string;
  /** Headers that the vendor demands for what is in the body. A list that the client sent too is joined with it. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sequences that the upstream cannot watch for: the gateway cuts the reply at the first. */
  readonly cutAt?: readonly string[];
};

/** What reading an upstream's reply needs. */
export type ReplyReading = {
  /** Whom this upstream's proofs belong to. */
  readonly proofOrigin: string;
  /** A new id that begins with the prefix, for calls of vendors that give them none. */
  readonly newId: (prefix: string) => string;
  readonly notes: TranslationNotes;
};

/** What the reply to a compaction is written with. */
export type CompactionWriting = {
  /** A response with one item, or the object of the endpoint for compactions. */
  readonly form: 'response' | 'compacted';
  /** The input as it was sent, the whole conversation in it. */
  readonly input: JsonValue | undefined;
  /** Makes a summary unreadable to its client, who keeps it. */
  readonly seal: (summary: string) => string;
};

/** What writing a reply for a client needs. */
export type ReplyWriting = {
  readonly requestId: string;
  readonly requestedModel: string;
  /** The request as the client sent it: some dialects echo it, or let it decide which events are sent. */
  readonly request: JsonObject;
  readonly createdAtMs: number;
  /** The time of day, for dialects that tell when a reply was complete. */
  readonly nowMs: () => number;
  /** What the input is estimated to be, for dialects that tell it before the upstream has. */
  readonly inputTokensEstimate: number;
  readonly newId: (prefix: string) => string;
  readonly notes: TranslationNotes;
  /** The id that the reply shall have, where the gateway had to know it before. */
  readonly replyId?: string;
  /** Set where the reply is to be the summary of a conversation. */
  readonly compaction?: CompactionWriting;
};

/** Reads the frames of an upstream's stream. Pure and synchronous; never throws for what an upstream sends. */
export type EventDecoder = {
  /** The events that a frame says. Frames that are no JSON, or of unknown types, say nothing; error frames are the tap's business. */
  readonly read: (frame: Frame) => readonly InferenceEvent[];
  /**
   * Called once when the body has ended or the dialect's end mark has passed: what was held back for the end. `finished` comes from here or
   * from `read`, once, and only if the upstream said that it had finished.
   */
  readonly end: () => readonly InferenceEvent[];
};

/** Where a written stream stands: what `encodeStreamError` needs to end it. */
export type StreamPosition = {
  readonly framesSent: number;
  readonly lastSequenceNumber?: number;
  readonly partialResponse?: JsonObject;
};

/**
 * Writes the client's stream. It gets events in line: blocks one after another (see serializeBlocks). Nothing comes before `started`, which
 * it may hold back until content comes. Pure and synchronous.
 */
export type EventEncoder = {
  /** The bytes of an event as text, its framing included; empty where the dialect has nothing to send for it yet. */
  readonly write: (event: InferenceEvent) => string;
  /** What opens the reply, if `write` keeps it for the first content; asked for where that is late. Absent where `started` has written it. */
  readonly open?: () => string;
  readonly position: () => StreamPosition;
  /** The reply so far as it is to be kept: with everything that the client did not ask to see. Absent where nothing is kept of the dialect. */
  readonly kept?: () => JsonObject;
};

/** The same as events without their framing, for what takes them one by one. */
export type StreamEventEncoder = Omit<EventEncoder, 'write' | 'open'> & {
  readonly write: (event: InferenceEvent) => readonly StreamEvent[];
};

/** Both directions of a chat dialect's wire format, to and from the neutral form. All functions are pure and synchronous. */
export type ChatCodec = {
  readonly fieldNames: FieldNames;
  /** What requests of this dialect call each built-in tool, where a choice names one; without the date that some end in. */
  readonly toolNames: Readonly<Record<BuiltInToolKind, readonly string[]>>;
  /** The beginnings of ids by which its clients know what the work of a built-in tool was. */
  readonly toolIdPrefixes: Readonly<Record<ServerToolPart['tool'], string>>;
  /** Which media an upstream of this dialect can be given the address of. Others are fetched for it. */
  readonly takesAddressOf: readonly MediaKind[];
  /** Whether an upstream of this dialect reads Word documents. Where not, it is given their text. */
  readonly readsWordDocuments: boolean;
  /**
   * Reads a validated request. Throws a GatewayError naming the field for what no neutral form can be given (arguments that are no JSON,
   * several candidates), and for state that lives at the vendor.
   */
  readonly decodeRequest: (request: WireRequest) => InferenceRequest;
  /** Writes a request for an upstream of this dialect. Losses go to `fit.notes`, which refuses them where that was asked for. */
  readonly encodeRequest: (request: InferenceRequest, fit: RequestFit) => EncodedRequest;
  /**
   * Whether an upstream of this dialect holds its reply to all of the output format, as `encodeRequest` writes it. False where some of it stands in words
   * only, or a function stands in.
   */
  readonly holdsFormat: (request: InferenceRequest, traits: ModelTraits) => boolean;
  /** Writes a request for the vendor's token counter; absent where the dialect has none. */
  readonly encodeCountRequest?: (request: InferenceRequest, fit: RequestFit) => JsonObject;
  /** Reads the vendor counter's answer; undefined where it holds no count. */
  readonly decodeCount?: (reply: unknown) => number | undefined;
  /** Writes the counter's answer for a client; absent where the dialect has no counter. */
  readonly encodeCount?: (inputTokens: number) => JsonObject;
  /** Whether a request asks for its conversation to be compacted, and in which form its reply is. Absent where the dialect has no such request. */
  readonly compactionOf?: (request: WireRequest) => CompactionWriting['form'] | undefined;
  readonly decodeReply: (reply: unknown, reading: ReplyReading) => InferenceReply;
  readonly encodeReply: (reply: InferenceReply, writing: ReplyWriting) => JsonObject;
  readonly createEventDecoder: (reading: ReplyReading, framing: StreamFraming) => EventDecoder;
  readonly createEventEncoder: (writing: ReplyWriting, framing: StreamFraming) => EventEncoder;
  /** The usage as this dialect's replies carry it. Unknown counts are left out where the dialect lets them be, and 0 otherwise. */
  readonly encodeUsage: (usage: Usage) => JsonObject;
  /**
   * Classes an upstream's error answer, so that another dialect can word it. `message` has no credential in it. Returns a GatewayError with
   * the code of the class and the status the client shall see.
   */
  readonly decodeError: (reply: UpstreamErrorReply) => GatewayError;
  /**
   * Takes proofs of other vendors (see wrapProof) out of a request of this dialect that is about to pass to its own vendor: the reasoning
   * they prove goes with them. Returns the same object when there are none.
   */
  readonly removeForeignProofs: (body: JsonObject) => JsonObject;
  /**
   * Whether a reply of this dialect can say that its generation failed. Where it cannot, an error says so: such a reply would look
   * complete.
   */
  readonly saysFailure: boolean;
  /** Whether a reply of this dialect says that a stop sequence ended it, and which. Otherwise such an end looks like any other. */
  readonly saysStopSequence: boolean;
};

export type UpstreamErrorReply = {
  readonly status: number;
  /** The body if it was JSON. */
  readonly body: unknown;
  readonly retryAfterSeconds?: number;
};
