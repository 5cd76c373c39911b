import type { ReasoningEffort } from './inference-request.ts';

/**
 * The facts about a model and its server that decide which requests it accepts. The folders of vendors contain the
 * facts of their models, and an operator sets quirk flags for a server. Passthrough needs none of them.
 */
export type ModelTraits = {
  /**
   * The highest number of output tokens in one reply. It is the default if a dialect requires a limit and the client
   * set none.
   */
  readonly outputTokensMax?: number;
  /** How its thinking is controlled: not at all, by a budget of tokens, or by an effort. */
  readonly reasoning: 'none' | 'budget' | 'effort';
  /** The efforts that it supports, lowest first. Absent: all. */
  readonly efforts?: readonly ReasoningEffort[];
  /** True if it cannot stop thinking; `off` then becomes the lowest effort or budget. */
  readonly alwaysReasons: boolean;
  /** True if it refuses temperature, top-p and similar settings. */
  readonly fixedSampling: boolean;
  /** True if it accepts a JSON schema for its answer. Otherwise a forced tool replaces the schema. */
  readonly structuredOutput: boolean;
  /** True if parameters of functions may be any JSON Schema. Otherwise only the vendor's subset is accepted. */
  readonly jsonSchemaTools: boolean;
  /** Whether the vendor fetches images and documents from addresses. Otherwise the gateway fetches and inlines them. */
  readonly fetchesUrls: boolean;
  readonly imagesInToolResults: boolean;
  /** Whether the conversation may end with an assistant turn that the reply continues. */
  readonly prefill: boolean;
  readonly webSearch: boolean;
  readonly codeExecution: boolean;
  /** Whether the vendor reads pages that the conversation names. Absent: no. */
  readonly urlContext?: boolean;
  /** Whether the vendor searches files that it stores. Absent: no. */
  readonly fileSearch?: boolean;
  /** Whether the vendor makes images between the words of a reply. Absent: no. */
  readonly imageGeneration?: boolean;
  /** The type of the vendor's own tool for controlling a screen. Absent: the model gets a function. */
  readonly screenTool?: string;
  /** Maximum of tokens of a request and its reply together. Absent: not known. */
  readonly contextTokensMax?: number;
  /** Whether one request may combine tools of the vendor or structured output with functions. */
  readonly mixesTools: boolean;
  /** Whether every call in the history must have the proof that its vendor made. */
  readonly requiresProofs: boolean;
  /** Differences of servers that imitate chat completions. */
  readonly chat: ChatTraits;
  /** Differences of models that are called through AWS Bedrock's Converse. Absent: the model has everything. */
  readonly converse?: ConverseTraits;
};

/** What a model supports of Converse. AWS refuses a request that has anything else. */
export type ConverseTraits = {
  /** Whether it takes system text. Otherwise that is put before the user's first text. */
  readonly systemText: boolean;
  /** Whether it calls functions: not at all, only in whole replies, or in streams too. */
  readonly tools: 'none' | 'whole' | 'streamed';
  /** The choices that force a call: of any function, or of one by its name. */
  readonly forcedTools: readonly ('any' | 'tool')[];
  /** Whether a result of a function can be marked as an error. */
  readonly resultStatus: boolean;
  readonly media: readonly ('image' | 'file' | 'video' | 'audio')[];
  /** Where it takes marks for the cache. */
  readonly cachePoints: readonly ('system' | 'messages' | 'tools')[];
  /** The most stop sequences that it takes. */
  readonly stopSequencesMax: number;
  /** The path of top-k below `additionalModelRequestFields`. Absent: it has none. */
  readonly topKField?: readonly string[];
};

export type ChatTraits = {
  readonly outputLimitField: 'max_tokens' | 'max_completion_tokens';
  /** Whether system text may be sent under the role `developer`; otherwise it is `system`. */
  readonly systemRole: 'developer' | 'system';
  readonly streamOptions: boolean;
  readonly parallelToolCallsField: boolean;
  /** Whether `tool_choice` may be `required` or name a function. */
  readonly forcedToolChoice: boolean;
  /**
   * The field that switches thinking: `reasoning_effort`; OpenRouter's `reasoning` object;
   * `chat_template_kwargs.enable_thinking`; `think`; the members `enable_thinking` and `thinking_budget` of the
   * request; `thinking.type`.
   */
  readonly reasoningField: 'reasoning_effort' | 'reasoning' | 'enable_thinking' | 'think' | 'top_enable_thinking' | 'thinking_type';
  /** Whether it refuses to think in a whole reply. Absent: no. */
  readonly thinksInStreamsOnly?: boolean;
  /** The field that returns earlier thoughts to servers that expect them in a tool loop. Absent: they are left out. */
  readonly reasoningHistoryField?: 'reasoning_content' | 'reasoning';
  /** The form of ids of calls, if it refuses others. Absent: up to 64 visible characters. */
  readonly callIds?: 'nine-alphanumerics';
  /** Sampling fields that it accepts in addition to the vendor's own. */
  readonly acceptsTopK: boolean;
  /** Whether it reports probabilities of its tokens when `logprobs` requests them. */
  readonly acceptsLogprobs: boolean;
};
