import type { DialectId, Operation, UpstreamDialectId, ValidationMode } from './dialect-id.ts';
import type { ImageCodec } from './image-codec.ts';
import type { WireRequest } from './wire-request.ts';
import type { CallFacts } from '../inference/call-facts.ts';
import type { Usage, UsageReport } from '../inference/usage.ts';
import type { GatewayError } from '../inference/gateway-error.ts';
import type { Frame, StreamEvent, StreamFraming } from '../platform/frames.ts';
import type { JsonEdit } from '../platform/json/json-edits.ts';
import type { JsonObject, JsonValue } from '../platform/json/json-value.ts';
import type { TSchema } from 'typebox';

import type { ChatCodec, ReplyWriting, StreamEventEncoder, StreamPosition, UpstreamCodec } from './chat-codec.ts';
import type { ErrorVoice } from './error-voice.ts';
import type { SurveyRequest } from './request-survey.ts';
import type { ModelListFormat } from './model-lists.ts';
import type { StoredId } from './stored-id.ts';

/** Contents of a request, in any of its turns, that only some models accept. */
export type RequestFeatures = {
  /** Images and videos. */
  readonly images: boolean;
  readonly documents: boolean;
  /** Audio input, or audio output that was requested. */
  readonly audio: boolean;
  /** Whether the model may call any tool. */
  readonly tools: boolean;
};

/** The target to which the dialect fits a request. */
export type TargetFit = {
  readonly requestedModel: string;
  readonly upstreamModel: string;
  /** False for servers that refuse `stream_options`. */
  readonly acceptsStreamOptions: boolean;
  /**
   * Whether the server accepts the field names of its own clients besides the names of the dialect's vendor. Absent:
   * no.
   */
  readonly takesOwnSpellings?: boolean;
};

/** The facts of a whole reply. */
export type ReplyReport = {
  readonly usageReport?: UsageReport;
  readonly servedModel?: string;
  /** The vendor's id of the reply, with which a later call may continue it. */
  readonly replyId?: string;
  readonly stopReason?: string;
  /** Characters of generated text, reasoning and tool arguments. Usage is estimated from them if it is absent. */
  readonly outputCharacters: number;
  /** Present if a 200 contains an error instead of a reply. */
  readonly error?: ErrorInReply;
};

export type ErrorInReply = {
  readonly message: string;
  /** The status that it would have had as an HTTP answer, from its own number, code or type. */
  readonly status?: number;
  /** Whether the operator's account at the upstream has no credit left. */
  readonly isOutOfCredit?: true;
  /** Set if a content filter refused the request: its findings, or an empty text if the service names none. */
  readonly filtered?: string;
};

/**
 * How a frame is passed to the client: unchanged, not at all (a usage chunk that the client did not request), or with
 * other bytes (a documented field that the contract requires besides the vendor's).
 */
export type FrameVerdict = 'forward' | 'hide' | { readonly bytes: Buffer };

export type StreamReport = ReplyReport & {
  /**
   * `open` until the dialect's terminal frame has passed, then `complete`; `failed` after its error event. A body that
   * ends in the state `open` was cut, even if the transport reports no error.
   */
  readonly state: 'open' | 'complete' | 'failed';
  /** Frames whose payload was not valid JSON. They are counted and passed on. */
  readonly malformedFrames: number;
  /** The number of the last event, for dialects that number them. An input of encodeStreamError. */
  readonly lastSequenceNumber?: number;
  /**
   * The reply as far as the stream has described it, for dialects whose closing error repeats it. An input of
   * encodeStreamError.
   */
  readonly partialResponse?: JsonObject;
};

/** Reads a stream while it passes. Pure and synchronous. */
export type StreamTap = {
  readonly read: (frame: Frame) => FrameVerdict;
  /**
   * Reads a chunk of whole frames, none of them the first, that is recognized by its bytes: all of them are forwarded,
   * and only add text. Returns their number; 0 if the chunk is not recognized, and then nothing was read. Absent if a
   * dialect recognizes none.
   */
  readonly skim?: (chunk: Buffer) => number;
  /** The `state` of the report. It is read after every chunk, and building the report would cost more. */
  readonly state: () => StreamReport['state'];
  /**
   * Whether a part of the reply itself has passed: text, reasoning, arguments, tool work, or an unknown event. Frames
   * that only open a reply (`message_start`, `response.created`, a first chunk with a role) do not count. Until then,
   * another upstream can still answer.
   */
  readonly hasContent: () => boolean;
  readonly report: () => StreamReport;
};

/** Returns the bytes that replace a frame, or undefined if it stays unchanged. */
export type FrameEditor = (frame: Frame) => Buffer | undefined;

/** Fields that the contract requires and the vendor does not send. Used if the contract is enforced to the letter. */
export type ContractReply = {
  /** The body that replaces an upstream's error. Undefined if it stays unchanged. */
  readonly editError: (status: number, body: JsonValue) => JsonObject | undefined;
  /** Makes an editor for one stream. */
  readonly createFrameEditor: () => FrameEditor;
};

/** Follows a stream that may have to end early, and writes its end. Pure and synchronous. */
export type StreamCutter<End = Buffer> = {
  /**
   * Receives a frame that is passed to the client. Frames are stored as far as `end` needs them, and are parsed only
   * then.
   */
  readonly pass: (frame: Frame) => void;
  /**
   * Ends the stream at a frame boundary as if its model had reached its output limit: every open item is closed, and
   * the end gives the reason.
   * @param usage the counts that are known so far
   */
  readonly end: (usage: Usage) => End;
};

/**
 * A dialect's streams as single events, for a WebSocket or a background response. All functions are pure and
 * synchronous.
 */
export type DialectEvents = {
  readonly createEncoder: (writing: ReplyWriting) => StreamEventEncoder;
  readonly createCutter: () => StreamCutter<readonly StreamEvent[]>;
  /** The end of a broken stream, as `encodeStreamError` writes it. */
  readonly describeError: (error: GatewayError, position: StreamPosition) => readonly StreamEvent[];
};

export type TapOptions = {
  readonly framing: StreamFraming;
  /** What the client's request says about its stream. */
  readonly request: StreamRequest;
};

/**
 * The members of a request that taps and cutters read: for example, whether a usage chunk was requested. The whole
 * request would stay in memory as long as its stream.
 */
export type StreamRequest = { readonly [Name in 'n' | 'stream_options']?: JsonValue | undefined };

/** Token limits for a request and its reply. */
export type ContextLimits = {
  /** The maximum of tokens in the request and its reply together. */
  readonly contextTokensMax: number;
  /** Tokens that are reserved for the reply. Absent: none. */
  readonly outputTokensMax?: number;
  /**
   * Whether a request is refused because its estimate is too long. Absent: only a request that is certainly too long is
   * refused.
   */
  readonly refusesEstimate?: boolean;
};

/** Whether a request fits its model, and which part of it fits. */
export type ContextFit =
  | { readonly kind: 'fits' }
  | { readonly kind: 'truncated'; readonly body: JsonObject; readonly dropped: number; readonly droppedIds: readonly string[] }
  /** It does not fit. Either it certainly has at least `tokensMin` tokens, or an estimate decides. */
  | { readonly kind: 'too-long'; readonly tokensMin: number; readonly tokensMax: number; readonly isEstimate?: boolean };

/** How clients of a dialect have a conversation fitted to the context window of its model. */
export type ContextFitting = {
  /** Checks whether a request with its history fits a model's context window. Drops items if the client permits it. */
  readonly fit: (body: JsonObject, limits: ContextLimits) => Promise<ContextFit>;
  /** Whether a part of the conversation is stored at the vendor, where the gateway cannot cut it. */
  readonly namesHistory: (body: JsonObject) => boolean;
  /** Whether the client permits that items are dropped. */
  readonly letsDrop: (body: JsonObject) => boolean;
  /** The same request without the permission to drop items. */
  readonly keepAll: (body: JsonObject) => JsonObject;
  /** For the refusal: the field that is too long, and what the client can do. */
  readonly param: string;
  readonly advice: string;
};

/** What the gateway reads of a request that it has written for an upstream: see CallFacts. */
type SentFacts = Pick<CallFacts, 'outputTokensMax'>;

/**
 * The wire format of an upstream: how requests are written for it, and how its replies are read. All functions are pure
 * and synchronous. A format that no client speaks is a folder here and a line in registry.ts too.
 */
export type UpstreamDialect<Id extends UpstreamDialectId = UpstreamDialectId> = {
  readonly id: Id;
  /** The common name: "Messages", "Responses". */
  readonly title: string;
  /** The name of its calls in the semantic conventions of telemetry. */
  readonly telemetryOperation: 'chat' | 'generate_content';
  /** Reads the facts of a request. */
  readonly readFacts: (request: WireRequest) => SentFacts;
  readonly readReply: (reply: unknown) => ReplyReport;
  readonly createStreamTap: (options: TapOptions) => StreamTap;
  /**
   * Whether its streams end with a mark, after which nothing counts. If not, `complete` means that the stream may end
   * here, and more usage may follow until the body ends.
   */
  readonly hasEndMark: (framing: StreamFraming) => boolean;
  readonly codec: UpstreamCodec;
};

/**
 * A chat dialect: the whole wire format of one vendor. All functions are pure and synchronous; a dialect does no I/O
 * and does not depend on upstreams. A new one is a folder here and a line in registry.ts.
 */
export type ChatDialect = Omit<UpstreamDialect<DialectId>, 'readFacts'> & {
  /** How messages write the path of a list item: `messages.0` or `input[0]`. */
  readonly itemPath: (path: string, index: number) => string;
  /**
   * Members of its requests that lead to media, and members that hold an address or an object with `url`. An upstream
   * would fetch an address in any other member, unchecked, from inside the operator's network.
   */
  readonly mediaMembers: { readonly roots: readonly string[]; readonly through: readonly string[]; readonly addresses: readonly string[] };
  /** Ids in a request of objects that the vendor stores under the operator's account, except files and responses. */
  readonly findStoredIds: (body: JsonObject) => Generator<StoredId>;
  /** The format in which its clients expect lists of models. */
  readonly modelList: ModelListFormat;
  /** The header in which its vendor returns the id of a request. */
  readonly requestIdHeader: 'request-id' | 'x-request-id';
  /** Prefixes, in lower case, of the headers in which its vendor reports an account's limits. */
  readonly limitHeaders: readonly string[];
  /** JSON Schema of the request body, by operation. Validation checks it and the OpenAPI document shows it. */
  readonly requestSchema: (operation: Operation, mode: ValidationMode) => TSchema;
  /**
   * Refuses a request that violates the contract. Throws a GatewayError whose message names the field, the problem and
   * what would be right.
   */
  readonly validateRequest: (request: WireRequest, mode: ValidationMode) => void;
  readonly readFacts: (request: WireRequest) => CallFacts;
  /** Says what a request surely does not contain, so that it need not be searched. */
  readonly surveyRequest: SurveyRequest;
  /**
   * Reads the features on which target conditions depend. It walks over all turns, so it is called only if a model has
   * such conditions.
   */
  readonly readFeatures: (request: WireRequest) => RequestFeatures;
  /**
   * A text of bounded length that is equal for all calls of a conversation and rarely equal for two conversations. It
   * is the session that the body names, otherwise the beginning of the conversation. Called only if several targets
   * share the calls.
   */
  readonly readConversation: (request: WireRequest) => string;
  /**
   * The byte edits that fit a validated body to its target: model name, documented field names, a request for usage.
   * Usually none or one.
   */
  readonly editRequest: (request: WireRequest, bytes: Buffer, fit: TargetFit) => readonly JsonEdit[];
  /** Absent if the dialect's clients cannot have a conversation fitted to its model. */
  readonly contextFitting?: ContextFitting;
  /**
   * Rewrites a whole reply if the contract requires more than the vendor sends. Returns the same buffer if nothing
   * changes.
   */
  readonly editReply: (bytes: Buffer) => Buffer;
  /** Absent if the vendor sends everything that the contract requires. */
  readonly contractReply?: ContractReply;
  readonly createStreamCutter: (options: TapOptions) => StreamCutter;
  /** Absent if its streams are always bytes. */
  readonly events?: DialectEvents;
  /** Writes errors and the gateway's other messages in this dialect. */
  readonly voice: ErrorVoice;
  /** Translates to and from the neutral form, for clients and upstreams that use different dialects. */
  readonly codec: ChatCodec;
  /** How its clients request images in a chat. Absent if they cannot, or if only their vendor serves such requests. */
  readonly images?: ImageCodec;
};
