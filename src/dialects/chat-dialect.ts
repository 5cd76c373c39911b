import type { DialectId, Operation, ValidationMode } from './dialect-id.ts';
import type { PictureCodec } from './picture-codec.ts';
import type { WireRequest } from './wire-request.ts';
import type { CallFacts } from '../inference/call-facts.ts';
import type { Usage, UsageReport } from '../inference/usage.ts';
import type { GatewayError } from '../inference/gateway-error.ts';
import type { Frame, StreamEvent, StreamFraming } from '../platform/frames.ts';
import type { JsonEdit } from '../platform/json/json-edits.ts';
import type { JsonObject, JsonValue } from '../platform/json/json-value.ts';
import type { TSchema } from 'typebox';

import type { ChatCodec, ReplyWriting, StreamEventEncoder, StreamPosition } from './chat-codec.ts';
import type { ErrorVoice } from './error-voice.ts';
import type { ModelListFormat } from './model-lists.ts';
import type { StoredId } from './stored-id.ts';

/** What a request holds that not every model takes, in any of its turns. */
export type RequestFeatures = {
  /** Pictures, and moving ones. */
  readonly images: boolean;
  readonly documents: boolean;
  /** Sound that is sent or asked for. */
  readonly audio: boolean;
  /** Whether the model is offered any tool. */
  readonly tools: boolean;
};

/** What the dialect needs to know of the target to fit the request to it. */
export type TargetFit = {
  readonly requestedModel: string;
  readonly upstreamModel: string;
  /** False for servers that refuse `stream_options`. */
  readonly acceptsStreamOptions: boolean;
  /** Whether the server takes the spellings of its own clients, where the dialect's vendor has stricter ones. Absent: no. */
  readonly takesOwnSpellings?: boolean;
};

/** What a whole reply says. */
export type ReplyReport = {
  readonly usageReport?: UsageReport;
  readonly servedModel?: string;
  /** The vendor's id of the reply, by which a later call may continue it. */
  readonly replyId?: string;
  readonly stopReason?: string;
  /** Characters of generated text, reasoning and tool arguments: the basis of an estimate when usage is absent. */
  readonly outputCharacters: number;
  /** Set when a 200 holds an error instead of a reply. */
  readonly error?: ErrorInReply;
};

export type ErrorInReply = {
  readonly message: string;
  /** What its status line would have been, where its own number, code or type tells. */
  readonly status?: number;
  /** Whether the operator's account there has no credit left. */
  readonly isOutOfCredit?: true;
};

/**
 * What becomes of a frame on its way to the client: it goes on untouched, is kept back (a usage chunk the client did not ask for),
 * or goes on in other bytes (a documented spelling that the contract wants besides the vendor's).
 */
export type FrameVerdict = 'forward' | 'hide' | { readonly bytes: Buffer };

export type StreamReport = ReplyReport & {
  /**
   * `open` until the dialect's own terminal frame has passed; `complete` after it; `failed` after the dialect's error event.
   * A body that ends while this is `open` was cut, whatever the transport says.
   */
  readonly state: 'open' | 'complete' | 'failed';
  /** Frames whose payload was not the JSON it should be. Counted, never dropped. */
  readonly malformedFrames: number;
  /** The number of the last event, for dialects that number them. Handed on to encodeStreamError. */
  readonly lastSequenceNumber?: number;
  /** The reply as far as the stream has introduced it, for dialects whose closing error repeats it. Handed on to encodeStreamError. */
  readonly partialResponse?: JsonObject;
};

/** Reads a stream as it passes. Pure and synchronous. */
export type StreamTap = {
  readonly read: (frame: Frame) => FrameVerdict;
  /** The `state` of the report without the cost of building one: it is asked for after every chunk. */
  readonly state: () => StreamReport['state'];
  /**
   * Whether anything of the reply itself has passed: text, reasoning, arguments, a tool at work, or an event that is not known. The frames that only open a
   * reply (`message_start`, `response.created`, a first chunk with a role) are none. Until it is true another upstream can still answer instead.
   */
  readonly hasContent: () => boolean;
  readonly report: () => StreamReport;
};

/** The bytes to send in place of a frame; undefined where it goes on as it is. */
export type FrameEditor = (frame: Frame) => Buffer | undefined;

/** What the contract writes and the vendor does not send. Used where the contract is kept to the letter. */
export type ContractReply = {
  /** The body to send in place of an upstream's error; undefined where it goes on as it is. */
  readonly editError: (status: number, body: JsonValue) => JsonObject | undefined;
  /** An editor for one stream. */
  readonly createFrameEditor: () => FrameEditor;
};

/** Follows a stream that may have to be ended before its time, and writes its end. Pure and synchronous. */
export type StreamCutter<End = Buffer> = {
  /** A frame that goes on to the client. It is kept as far as an end needs it, and read only then. */
  readonly pass: (frame: Frame) => void;
  /**
   * What ends the stream at a frame boundary as if its model had reached the bound of its output: nothing is left open, and the end says why.
   * @param usage what is known of it by now
   */
  readonly end: (usage: Usage) => End;
};

/** A dialect's streams as events, for those that take them one by one: a WebSocket, a response that is generated for nobody yet. All functions are pure and synchronous. */
export type DialectEvents = {
  readonly createEncoder: (writing: ReplyWriting) => StreamEventEncoder;
  readonly createCutter: () => StreamCutter<readonly StreamEvent[]>;
  /** What ends a broken stream, as `encodeStreamError` writes it. */
  readonly describeError: (error: GatewayError, position: StreamPosition) => readonly StreamEvent[];
};

export type TapOptions = {
  readonly framing: StreamFraming;
  /** The request as the client sent it: decides, for example, whether a usage chunk was asked for. */
  readonly request: JsonObject;
};

/** What a request and its reply may have together. */
export type ContextLimits = {
  /** Tokens that the request and its reply may have together. */
  readonly contextTokensMax: number;
  /** Tokens that the reply may have, for which room is left. Absent: none is. */
  readonly outputTokensMax?: number;
  /** Whether a request that is estimated to be longer is refused. Absent: only one that is longer with certainty. */
  readonly refusesEstimate?: boolean;
};

/** Whether a request fits its model, and what of it does. */
export type ContextFit =
  | { readonly kind: 'fits' }
  | { readonly kind: 'truncated'; readonly body: JsonObject; readonly dropped: number; readonly droppedIds: readonly string[] }
  /** It does not fit: with certainty, and then it has at least so many tokens, or by an estimate, where that decides. */
  | { readonly kind: 'too-long'; readonly tokensMin: number; readonly tokensMax: number; readonly isEstimate?: boolean };

/** How a dialect's clients have a conversation fitted to the window of its model. */
export type ContextFitting = {
  /** Whether a request, its history in it, fits a model's window, and what of it does where the client lets items be dropped. */
  readonly fit: (body: JsonObject, limits: ContextLimits) => Promise<ContextFit>;
  /** Whether the vendor keeps some of the conversation, which cannot be cut here. */
  readonly namesHistory: (body: JsonObject) => boolean;
  /** Whether the client lets items be dropped. */
  readonly letsDrop: (body: JsonObject) => boolean;
  /** The same request, of which no item may be dropped. */
  readonly keepAll: (body: JsonObject) => JsonObject;
  /** Which field is too long where it does not fit, and what its client can do. */
  readonly param: string;
  readonly advice: string;
};

/**
 * A chat dialect: everything the gateway knows of one vendor's wire format. All functions are pure and synchronous; a dialect does no
 * I/O and knows no upstream. Adding one adds a folder here and a line in registry.ts.
 */
export type ChatDialect = {
  readonly id: DialectId;
  /** The name people use: "Messages", "Responses". */
  readonly title: string;
  /** What the conventions of telemetry call its calls. */
  readonly telemetryOperation: 'chat' | 'generate_content';
  /** How the address of an item in a list is written in messages: `messages.0` or `input[0]`. */
  readonly itemPath: (path: string, index: number) => string;
  /**
   * Members of its requests that lead to media, and those that hold an address, or an object whose `url` is one. An address in any other member would be fetched unseen, from inside
   * the operator's network.
   */
  readonly mediaMembers: { readonly roots: readonly string[]; readonly through: readonly string[]; readonly addresses: readonly string[] };
  /** Everything that a request names which its vendor keeps under the operator's account, files and responses left out. */
  readonly findStoredIds: (body: JsonObject) => Generator<StoredId>;
  /** How its clients want models listed. */
  readonly modelList: ModelListFormat;
  /** The header in which its vendor tells the id of a request. */
  readonly requestIdHeader: 'request-id' | 'x-request-id';
  /** The beginnings of the headers in which its vendor tells where an account stands with its limits, in lower case. */
  readonly limitHeaders: readonly string[];
  /** JSON Schema of the request body, by operation: what validation checks and the OpenAPI document shows. */
  readonly requestSchema: (operation: Operation, mode: ValidationMode) => TSchema;
  /** Refuses a request that the contract refuses. Throws a GatewayError whose message names the field, its problem and what is right. */
  readonly validateRequest: (request: WireRequest, mode: ValidationMode) => void;
  /** Reads the facts of a validated request. */
  readonly readFacts: (request: WireRequest) => CallFacts;
  /** Reads what conditions of targets ask for. Costs a walk over the turns: called only where a model has such conditions. */
  readonly readFeatures: (request: WireRequest) => RequestFeatures;
  /**
   * A text of bounded length that is the same for all calls of a conversation, and seldom for two conversations: the session that the client names in the body, else
   * how the conversation begins. Called only where several targets share the calls.
   */
  readonly readConversation: (request: WireRequest) => string;
  /** The byte edits that fit a validated body to its target: model name, documented spellings, asking for usage. Usually none or one. */
  readonly editRequest: (request: WireRequest, bytes: Buffer, fit: TargetFit) => readonly JsonEdit[];
  /** Absent where a dialect has no word by which a client lets its conversation be fitted to its model. */
  readonly contextFitting?: ContextFitting;
  readonly readReply: (reply: unknown) => ReplyReport;
  /** Rewrites a whole reply where the contract wants more than the vendor sends; returns the same buffer when nothing is to do. */
  readonly editReply: (bytes: Buffer) => Buffer;
  /** Absent where the vendor sends all that the contract writes. */
  readonly contractReply?: ContractReply;
  readonly createStreamTap: (options: TapOptions) => StreamTap;
  readonly createStreamCutter: (options: TapOptions) => StreamCutter;
  /** Absent where its streams are only ever bytes. */
  readonly events?: DialectEvents;
  /**
   * Whether its streams end with a mark of their own, after which nothing that counts can come. Where they do not, `complete` means that
   * the stream may end here, and more usage may follow until the body does.
   */
  readonly hasEndMark: (framing: StreamFraming) => boolean;
  /** How it words errors and what else the gateway itself says. */
  readonly voice: ErrorVoice;
  /** Both directions to and from the neutral form, for clients and upstreams that speak different dialects. */
  readonly codec: ChatCodec;
  /** How its clients ask for pictures within a chat. Absent where they cannot, or where only their vendor is asked. */
  readonly pictures?: PictureCodec;
};
