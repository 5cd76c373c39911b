import type { JsonObject, JsonValue } from '../platform/json/json-value.ts';
import type { Citation } from './citation.ts';
import type { ImageRequest, ShownImage } from './image.ts';
import type { Proof } from './proof.ts';

/**
 * A chat request in the neutral form, which covers all dialects and belongs to none. Each dialect decodes its wire
 * request into this form and encodes this form into its own. Two dialects that can both express something lose nothing.
 * See docs/reference/neutral-form.md.
 */
export type InferenceRequest = {
  /** The model name exactly as the client wrote it. */
  readonly model: string;
  readonly stream: boolean;
  /** System text before the conversation, in order. */
  readonly instructions: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  /** Whether one turn may contain several calls. Absent: the upstream's default. */
  readonly parallelToolCalls?: boolean;
  readonly outputTokensMax?: number;
  readonly stopSequences?: readonly string[];
  readonly outputFormat?: OutputFormat;
  readonly sampling: Sampling;
  readonly reasoning?: ReasoningRequest;
  /** The end user, under the name that the client sends to the vendor. */
  readonly endUser?: string;
  readonly serviceTier?: ServiceTier;
  /** How detailed the answer should be. */
  readonly verbosity?: 'low' | 'medium' | 'high';
  /**
   * The dialect of the client. Content that only this dialect can express (fields without a neutral name, tools and
   * parts in wire form) returns to it and goes nowhere else. Absent: the request was read from no dialect.
   */
  readonly dialect?: string;
  /** Asks for the probabilities of the reply's tokens. */
  readonly tokenLogprobs?: TokenLogprobsRequest;
  /** Fields that have no neutral name, as the client wrote them. */
  readonly vendorFields: readonly VendorField[];
};

export type TokenLogprobsRequest = {
  /** How many alternatives are requested for each position, besides the chosen token. */
  readonly alternatives?: number;
  /** The vendor fields that ask for it. They are lost if the target does not report probabilities. */
  readonly fields: readonly string[];
};

/** A field without a neutral name. It returns only to the dialect it came from. */
export type VendorField = {
  /**
   * Its path in the client's request, as that dialect spells paths: `logit_bias`, `generationConfig.mediaResolution`.
   */
  readonly field: string;
  readonly value: JsonValue;
  /**
   * `matters`: the answer is different without it. `hint`: it affects caching, speed or bookkeeping only. Notes name
   * both to the client if they are left out. `harmless`: nothing is lost without it, because it states a default or its
   * meaning is carried in another way.
   */
  readonly weight: 'harmless' | 'hint' | 'matters';
};

export type Sampling = {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
};

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/**
 * How much the model should think. Clients send an effort or a budget; each is mapped to the other if the target
 * supports only that.
 */
export type ReasoningRequest = {
  /** The field's path, if the dialect has several fields for it. */
  readonly path?: string;
  /** `off` forbids thinking, `on` requests it, `auto` leaves it to the model. */
  readonly mode: 'off' | 'on' | 'auto';
  readonly effort?: ReasoningEffort;
  readonly budgetTokens?: number;
  /** Whether the reply should contain the thoughts or a summary of them. Absent: the target's default. */
  readonly visible?: boolean;
  /** The kind of summary, in dialects that have several kinds. */
  readonly summary?: 'auto' | 'concise' | 'detailed';
  /** Whether the reply must contain proofs of reasoning in dialects that send them only on request. */
  readonly wantsProofs?: boolean;
};

export type OutputFormat =
  /** Any JSON. `isObject` is set if the dialect guarantees an object. */
  | { readonly kind: 'json'; readonly isObject?: true }
  | {
      readonly kind: 'json-schema';
      /** Absent if the client's dialect has no name for it. */
      readonly name?: string;
      readonly description?: string;
      readonly schema: JsonObject;
      readonly strict?: boolean;
    };

export type ServiceTier = 'auto' | 'default' | 'flex' | 'priority';

export type FunctionTool = {
  readonly kind: 'function';
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. Absent: the arguments are not described. */
  readonly parameters?: JsonObject;
  readonly strict?: boolean;
  /**
   * Set for the tool with which a model controls a screen. Vendors with such a tool get their own, the others get this
   * function.
   */
  readonly screen?: Screen;
  /** The tool in its dialect's form, if that is more than a function. */
  readonly wire?: JsonObject;
  readonly path?: string;
};

/** The screen that a model controls, in pixels. */
export type Screen = { readonly width: number; readonly height: number; readonly environment?: string };

/** A tool that the vendor runs. */
export type WebSearchTool = {
  readonly kind: 'web-search';
  readonly maxUses?: number;
  readonly allowedDomains?: readonly string[];
  readonly blockedDomains?: readonly string[];
  readonly userLocation?: { readonly city?: string; readonly region?: string; readonly country?: string; readonly timezone?: string };
  readonly contextSize?: 'low' | 'medium' | 'high';
  /** The tool in its dialect's form, if that contains more. */
  readonly wire?: JsonObject;
  readonly path?: string;
};

/** Running code in a sandbox. */
type CodeExecutionTool = { readonly kind: 'code-execution'; readonly wire?: JsonObject; readonly path?: string };

/** A condition on the attributes of a file. */
export type FileFilter =
  | {
      readonly kind: 'compare';
      readonly key: string;
      readonly operator: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'nin';
      readonly value: string | number | boolean | readonly (string | number | boolean)[];
    }
  | { readonly kind: 'and' | 'or'; readonly filters: readonly FileFilter[] };

/** Searches files in vector stores. */
export type FileSearchTool = {
  readonly kind: 'file-search';
  readonly storeIds: readonly string[];
  readonly filter?: FileFilter;
  /** From 1 to 50. */
  readonly resultsMax?: number;
  readonly ranker?: string;
  /** From 0 to 1. */
  readonly scoreThreshold?: number;
  readonly path?: string;
};

/** Reads pages whose addresses are in the conversation. */
export type UrlContextTool = {
  readonly kind: 'url-context';
  readonly maxUses?: number;
  readonly allowedDomains?: readonly string[];
  readonly blockedDomains?: readonly string[];
  readonly wire?: JsonObject;
  readonly path?: string;
};

/** Making images. The settings hold for every image that the model requests. */
export type ImageGenerationTool = {
  readonly kind: 'image-generation';
  readonly settings: Pick<
    ImageRequest,
    'size' | 'quality' | 'background' | 'outputFormat' | 'outputCompression' | 'moderation' | 'inputFidelity' | 'mask'
  >;
  /** Whether each image is made from the prompt alone, from images of the conversation, or as the model decides. */
  readonly action: 'auto' | 'generate' | 'edit';
  /** Unfinished images that a stream shows first, from 0 to 3. */
  readonly partialImages: number;
  readonly wire: JsonObject;
  readonly path?: string;
};

/** A tool of one vendor that no other dialect can express. Upstreams of other vendors refuse it. */
type VendorTool = { readonly kind: 'vendor'; readonly name: string; readonly wire: JsonObject; readonly path?: string };

export type Tool = FunctionTool | WebSearchTool | CodeExecutionTool | FileSearchTool | UrlContextTool | ImageGenerationTool | VendorTool;

/** Tools that a service runs in the course of a reply: the vendor if it can, otherwise the gateway. */
export type BuiltInTool = Extract<Tool, { readonly kind: BuiltInToolKind }>;

export const builtInToolKinds = ['web-search', 'code-execution', 'file-search', 'url-context', 'image-generation'] as const;
export type BuiltInToolKind = (typeof builtInToolKinds)[number];

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' }
  /** `ofFunctions`: the model must call one of the client's functions; the use of a built-in tool does not count. */
  | { readonly kind: 'required'; readonly ofFunctions?: true }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'built-in'; readonly tool: BuiltInToolKind }
  /** Only these functions; `required` if one of them must be called. */
  | { readonly kind: 'allowed'; readonly names: readonly string[]; readonly required: boolean };

/**
 * One turn of the conversation. A `system` turn is system text in mid-conversation. Assistant turns contain text,
 * refusals, reasoning, tool calls and the activity of server tools in their order; user turns contain text, media and
 * tool results.
 */
export type Turn = {
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly Part[];
  readonly name?: string;
  /** The path of the name in the client's request. */
  readonly namePath?: string;
};

export type Part = TextPart | RefusalPart | MediaPart | ReasoningPart | ToolCallPart | ToolResultPart | ServerToolPart | VendorPart;

/** `path` is the part's path in the client's request (`messages.2.content.0`), so that a refusal can name it. */
type Placed = { readonly path?: string };

export type TextPart = Placed & {
  readonly kind: 'text';
  readonly text: string;
  readonly citations?: readonly Citation[];
  readonly proof?: Proof;
};

export type RefusalPart = Placed & { readonly kind: 'refusal'; readonly text: string };

export type MediaKind = 'image' | 'file' | 'audio' | 'video';

/** An image, document, audio or video. `file` is a document, for example PDF or plain text. */
export type MediaPart = Placed & {
  readonly kind: 'media';
  readonly media: MediaKind;
  readonly source: MediaSource;
  readonly filename?: string;
  /** How closely the model should examine an image. */
  readonly detail?: 'low' | 'high' | 'auto';
  /** The path of that setting, if it is not on the image itself. */
  readonly detailPath?: string;
  /** The document's title and context, if the dialect has them. */
  readonly title?: string;
  readonly context?: string;
};

export type MediaSource =
  /** `data` is plain base64 without a data: prefix. */
  | { readonly kind: 'inline'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  /** A document as plain text. */
  | { readonly kind: 'text'; readonly text: string }
  /** A file that one vendor stores. Other vendors cannot use it. */
  | { readonly kind: 'vendor-file'; readonly id: string; readonly mediaType?: string };

/**
 * Thoughts of the model. `text` is what the vendor shows: the thoughts or their summary, with the vendor's paragraphs.
 * It is empty if the vendor shows nothing and only the proof matters. The proof belongs to the vendor that made it.
 */
export type ReasoningPart = Placed & {
  readonly kind: 'reasoning';
  readonly text: readonly string[];
  readonly proof?: Proof;
  /** The vendor's id of the reasoning item, if it has one. */
  readonly itemId?: string;
};

export type ToolCallPart = Placed & {
  readonly kind: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** The arguments as the original JSON text. An empty text means no arguments. */
  readonly arguments: string;
  readonly proof?: Proof;
  /** The item in its dialect's form, if that is more than a function call. */
  readonly wire?: JsonObject;
};

export type ToolResultPart = Placed & {
  readonly kind: 'tool-result';
  readonly callId: string;
  /** The name of the function, if the dialect sends it with the result. */
  readonly name?: string;
  /** Text and media. JSON results are text. */
  readonly content: readonly (TextPart | MediaPart)[];
  readonly isError: boolean;
  /** The item in its dialect's form, if that is more than the result of a function. */
  readonly wire?: JsonObject;
};

/** The activity of a tool that the vendor ran. It is part of a reply's record, and another vendor cannot replay it. */
export type ServerToolPart = Placed & {
  readonly kind: 'server-tool';
  readonly tool: BuiltInToolKind | 'other';
  readonly id: string;
  /** The queries, the code or the addresses that the tool received. */
  readonly input: readonly string[];
  /** Pages and passages that it found, or the output of code. Absent until there are any. */
  readonly results?: readonly ToolFinding[];
  readonly failed?: boolean;
  /** The reason of the failure, if it is known. */
  readonly failure?: 'timed-out' | 'unavailable' | 'limit-reached' | 'invalid-input';
  /** The items in its dialect's form, for the dialect that wrote them. */
  readonly wire: readonly JsonObject[];
};

/** One finding of a built-in tool, or one piece of the output of code. */
export type ToolFinding = {
  readonly url?: string;
  /** The title of the page, or the name of the file. */
  readonly title?: string;
  readonly text?: string;
  readonly fileId?: string;
  readonly storeId?: string;
  readonly attributes?: JsonObject;
  /** How well it matches the query, from 0 to 1. */
  readonly score?: number;
  /** The date on which the page was published or changed, as the page states it. */
  readonly date?: string;
  /** An image that was made; `text` is its revised prompt then. */
  readonly image?: ShownImage;
  /** Set if a requested page could not be read. */
  readonly unreadable?: boolean;
};

/** A part that only one dialect has. Upstreams of other vendors refuse or drop it, with a note. */
type VendorPart = Placed & {
  readonly kind: 'vendor';
  readonly name: string;
  readonly wire: JsonObject;
  /** `drop` if the conversation makes sense without it. */
  readonly elsewhere: 'drop' | 'refuse';
};
