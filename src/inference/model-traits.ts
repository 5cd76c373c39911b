import type { ReasoningEffort } from './inference-request.ts';

/**
 * What must be known of a model and its server to write a request that it accepts. Vendors' folders hold the facts of their models; an
 * operator's quirk flags set them for a server. Passthrough asks for none of this.
 */
export type ModelTraits = {
  /** The most output tokens it accepts in one reply: the default where a dialect demands a limit and the client set none. */
  readonly outputTokensMax?: number;
  /** How its thinking is steered: not at all, by a budget of tokens, or by an effort. */
  readonly reasoning: 'none' | 'budget' | 'effort';
  /** The efforts it knows, least first, where it does not know them all. */
  readonly efforts?: readonly ReasoningEffort[];
  /** True when it thinks whatever is asked; `off` then becomes the least effort or budget. */
  readonly alwaysReasons: boolean;
  /** True when it refuses temperature, top-p and the like. */
  readonly fixedSampling: boolean;
  /** True when it takes a JSON schema for its answer; otherwise a forced tool stands in. */
  readonly structuredOutput: boolean;
  /** True when functions' parameters may be any JSON Schema; otherwise only the vendor's subset. */
  readonly jsonSchemaTools: boolean;
  /** Whether images and documents may be given as an address that the vendor fetches. Otherwise the gateway fetches and inlines them. */
  readonly fetchesUrls: boolean;
  readonly imagesInToolResults: boolean;
  /** Whether the conversation may end with an assistant turn that the reply continues. */
  readonly prefill: boolean;
  readonly webSearch: boolean;
  readonly codeExecution: boolean;
  /** Whether the vendor reads pages that the conversation names. Absent: no. */
  readonly urlContext?: boolean;
  /** Whether the vendor searches files that it keeps itself. Absent: no. */
  readonly fileSearch?: boolean;
  /** The type of the vendor's own tool with which this model steers a screen. Absent: it is offered a function. */
  readonly screenTool?: string;
  /** Tokens that a request and its reply may have together. Absent: not known. */
  readonly contextTokensMax?: number;
  /** Whether tools of the vendor and structured output may be asked for in one request with functions. */
  readonly mixesTools: boolean;
  /** Whether every call in the history must come with the proof its vendor made, or is refused. */
  readonly requiresProofs: boolean;
  /** Departures of servers that imitate chat completions. */
  readonly chat: ChatTraits;
};

export type ChatTraits = {
  readonly outputLimitField: 'max_tokens' | 'max_completion_tokens';
  /** Whether system text may be sent under the role `developer`; otherwise it is `system`. */
  readonly systemRole: 'developer' | 'system';
  readonly streamOptions: boolean;
  readonly parallelToolCallsField: boolean;
  /** Whether `tool_choice` may be `required` or name a function. */
  readonly forcedToolChoice: boolean;
  /** How thinking is switched: `reasoning_effort`; OpenRouter's `reasoning` object; `chat_template_kwargs.enable_thinking`; `think`. */
  readonly reasoningField: 'reasoning_effort' | 'reasoning' | 'enable_thinking' | 'think';
  /** The field in which earlier thoughts go back to servers that want them within a tool loop. Absent: they are left out. */
  readonly reasoningHistoryField?: 'reasoning_content' | 'reasoning';
  /** Sampling fields beyond the vendor's own that it accepts. */
  readonly acceptsTopK: boolean;
  /** Whether it tells how likely its tokens were when `logprobs` asks for it. */
  readonly acceptsLogprobs: boolean;
};
