import type { JsonObject, JsonValue } from '../platform/json/json-value.ts';
import type { Citation } from './citation.ts';
import type { Proof } from './proof.ts';

/**
 * A chat request in the neutral form: what any dialect can say, in nobody's spelling. A dialect decodes its wire request into this and
 * encodes this into its own; two dialects that can both say a thing lose nothing of it on the way. See docs/reference/neutral-form.md.
 */
export type InferenceRequest = {
  /** The model name exactly as the client asked for it. */
  readonly model: string;
  readonly stream: boolean;
  /** System text that stands before the conversation, in order. */
  readonly instructions: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  /** Whether several calls may come in one turn. Absent: the upstream's default. */
  readonly parallelToolCalls?: boolean;
  readonly outputTokensMax?: number;
  readonly stopSequences?: readonly string[];
  readonly outputFormat?: OutputFormat;
  readonly sampling: Sampling;
  readonly reasoning?: ReasoningRequest;
  /** The end user, as the client names them to the vendor. */
  readonly endUser?: string;
  readonly serviceTier?: ServiceTier;
  /** How wordy the answer shall be. */
  readonly verbosity?: 'low' | 'medium' | 'high';
  /**
   * The dialect it was read from. What only that dialect can say (fields without a neutral name, tools and parts in wire form) goes back
   * into it, and nowhere else. Absent: it was read from none.
   */
  readonly dialect?: string;
  /** That the reply shall say how likely its tokens were. */
  readonly tokenLogprobs?: TokenLogprobsRequest;
  /** Fields that have no neutral name, as the client wrote them. */
  readonly vendorFields: readonly VendorField[];
};

export type TokenLogprobsRequest = {
  /** How many tokens shall be told for each place, besides the one that was chosen. */
  readonly alternatives?: number;
  /** The vendor fields that ask for it: they are lost wherever the target cannot tell. */
  readonly fields: readonly string[];
};

/** A field without a neutral name. It is merged back only for the dialect it came from. */
export type VendorField = {
  /** Where it stands in the client's request, in that dialect's spelling of paths: `logit_bias`, `generationConfig.mediaResolution`. */
  readonly field: string;
  readonly value: JsonValue;
  /**
   * `matters` when leaving it out changes the answer; `hint` when it steers caching, speed or bookkeeping only. Both are named to the client
   * where they are left out. `harmless` when nothing is lost without it: it says what holds anyway, or its meaning is carried otherwise.
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

/** How much the model shall think. A client says an effort or a budget; each is mapped to the other where the target knows only that. */
export type ReasoningRequest = {
  /** Where the client wrote it, if its dialect has several places. */
  readonly path?: string;
  /** `off` forbids thinking, `on` asks for it, `auto` lets the model decide. */
  readonly mode: 'off' | 'on' | 'auto';
  readonly effort?: ReasoningEffort;
  readonly budgetTokens?: number;
  /** Whether the reply shall show the thoughts or a summary of them. Absent: the target's default. */
  readonly visible?: boolean;
  /** The kind of summary asked for, where the dialect tells kinds apart. */
  readonly summary?: 'auto' | 'concise' | 'detailed';
  /** Whether the reply shall carry proofs of reasoning even where the dialect sends them only on demand. */
  readonly wantsProofs?: boolean;
};

export type OutputFormat =
  /** Any JSON. `isObject` where the dialect promises an object. */
  | { readonly kind: 'json'; readonly isObject?: true }
  | {
      readonly kind: 'json-schema';
      /** Absent where the client's dialect has no name for it. */
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
  /** JSON Schema of the arguments. Absent: no arguments are described. */
  readonly parameters?: JsonObject;
  readonly strict?: boolean;
  /** Set for the tool with which a model steers a screen: vendors that have such a tool get theirs, the others this function. */
  readonly screen?: Screen;
  /** The tool as its dialect spells it, where that is more than a function. */
  readonly wire?: JsonObject;
  readonly path?: string;
};

/** What a model that steers a computer sees, in pixels. */
export type Screen = { readonly width: number; readonly height: number; readonly environment?: string };

/** A tool that the upstream's vendor runs itself. */
export type WebSearchTool = {
  readonly kind: 'web-search';
  readonly maxUses?: number;
  readonly allowedDomains?: readonly string[];
  readonly blockedDomains?: readonly string[];
  readonly userLocation?: { readonly city?: string; readonly region?: string; readonly country?: string; readonly timezone?: string };
  readonly contextSize?: 'low' | 'medium' | 'high';
  /** The tool as its dialect spells it, where that says more. */
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

/** Searching files that were put into stores. */
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

/** Reading pages whose addresses stand in the conversation. */
export type UrlContextTool = {
  readonly kind: 'url-context';
  readonly maxUses?: number;
  readonly allowedDomains?: readonly string[];
  readonly blockedDomains?: readonly string[];
  readonly wire?: JsonObject;
  readonly path?: string;
};

/** A tool of one vendor that no other dialect can name. Another vendor's upstream refuses it. */
type VendorTool = { readonly kind: 'vendor'; readonly name: string; readonly wire: JsonObject; readonly path?: string };

export type Tool = FunctionTool | WebSearchTool | CodeExecutionTool | FileSearchTool | UrlContextTool | VendorTool;

/** Tools that a service runs between the words of a reply: the vendor where it can, else the gateway. */
export type BuiltInTool = Extract<Tool, { readonly kind: BuiltInToolKind }>;

export const builtInToolKinds = ['web-search', 'code-execution', 'file-search', 'url-context'] as const;
export type BuiltInToolKind = (typeof builtInToolKinds)[number];

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' }
  /** `ofFunctions`: one of the client's functions must be called, and no use of a built-in tool beside them stands for that. */
  | { readonly kind: 'required'; readonly ofFunctions?: true }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'built-in'; readonly tool: BuiltInToolKind }
  /** Only these functions; `required` when one of them must be called. */
  | { readonly kind: 'allowed'; readonly names: readonly string[]; readonly required: boolean };

/**
 * One turn of the conversation. A `system` turn stands in mid-conversation. Assistant turns hold text, refusals, reasoning, tool calls and
 * server tool activity in the order they were made; user turns hold text, media and tool results.
 */
export type Turn = {
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly Part[];
  readonly name?: string;
  /** Where the client wrote the name. */
  readonly namePath?: string;
};

export type Part = TextPart | RefusalPart | MediaPart | ReasoningPart | ToolCallPart | ToolResultPart | ServerToolPart | VendorPart;

/** `path` on a part says where the client wrote it (`messages.2.content.0`), so that a refusal can name it. */
type Placed = { readonly path?: string };

export type TextPart = Placed & {
  readonly kind: 'text';
  readonly text: string;
  readonly citations?: readonly Citation[];
  readonly proof?: Proof;
};

export type RefusalPart = Placed & { readonly kind: 'refusal'; readonly text: string };

export type MediaKind = 'image' | 'file' | 'audio' | 'video';

/** An image, document, sound or film. `file` is a document: PDF, plain text and the like. */
export type MediaPart = Placed & {
  readonly kind: 'media';
  readonly media: MediaKind;
  readonly source: MediaSource;
  readonly filename?: string;
  /** How closely an image shall be looked at. */
  readonly detail?: 'low' | 'high' | 'auto';
  /** Where the client wrote that, if not on the image itself. */
  readonly detailPath?: string;
  /** Title and context of a document, where the dialect has them. */
  readonly title?: string;
  readonly context?: string;
};

export type MediaSource =
  /** `data` is plain base64 without a data: prefix. */
  | { readonly kind: 'inline'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  /** A document given as plain text. */
  | { readonly kind: 'text'; readonly text: string }
  /** A file kept by one vendor; it means nothing to another. */
  | { readonly kind: 'vendor-file'; readonly id: string; readonly mediaType?: string };

/**
 * Thoughts of the model. `text` is what the vendor showed: the thoughts or their summary, its paragraphs as the vendor cut them; empty
 * where it showed nothing and only the proof matters. The proof belongs to the vendor that made it.
 */
export type ReasoningPart = Placed & {
  readonly kind: 'reasoning';
  readonly text: readonly string[];
  readonly proof?: Proof;
  /** The vendor's id of the reasoning item, where it has one. */
  readonly itemId?: string;
};

export type ToolCallPart = Placed & {
  readonly kind: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text, as they were written. An empty text means no arguments. */
  readonly arguments: string;
  readonly proof?: Proof;
  /** The dialect's own item of it, where that says more than a call of a function. */
  readonly wire?: JsonObject;
};

export type ToolResultPart = Placed & {
  readonly kind: 'tool-result';
  readonly callId: string;
  /** The function's name, where the dialect carries it with the result. */
  readonly name?: string;
  /** Text and media. JSON results are text. */
  readonly content: readonly (TextPart | MediaPart)[];
  readonly isError: boolean;
  /** The dialect's own item of it, where that says more than the result of a function. */
  readonly wire?: JsonObject;
};

/** Something that a tool run by the vendor did: part of the record of a reply. Another vendor cannot replay it. */
export type ServerToolPart = Placed & {
  readonly kind: 'server-tool';
  readonly tool: BuiltInToolKind | 'other';
  readonly id: string;
  /** What was searched, run or read: queries, code, or addresses. */
  readonly input: readonly string[];
  /** Pages and passages found, or the output of code. Absent while none has come. */
  readonly results?: readonly ToolFinding[];
  readonly failed?: boolean;
  /** Why it failed, where that is more than that it did. */
  readonly failure?: 'timed-out' | 'unavailable' | 'limit-reached' | 'invalid-input';
  /** The dialect's own items of it, for the dialect that wrote them. */
  readonly wire: readonly JsonObject[];
};

/** One thing that a built-in tool found, or one piece of what code put out. */
export type ToolFinding = {
  readonly url?: string;
  /** The page's title, or the file's name. */
  readonly title?: string;
  readonly text?: string;
  readonly fileId?: string;
  readonly storeId?: string;
  readonly attributes?: JsonObject;
  /** How well it fits the query, from 0 to 1. */
  readonly score?: number;
  /** When the page was published or changed, as it says itself. */
  readonly date?: string;
  /** Set for a page that was asked for and could not be read. */
  readonly unreadable?: boolean;
};

/** A part that only one dialect knows. Another vendor's upstream refuses or drops it, and says so. */
type VendorPart = Placed & {
  readonly kind: 'vendor';
  readonly name: string;
  readonly wire: JsonObject;
  /** `drop` when a conversation makes sense without it. */
  readonly elsewhere: 'drop' | 'refuse';
};
