import Type, { type TSchema } from 'typebox';

import type { Quirks } from '../../upstreams/apply-quirks.ts';
import { serviceQuirkFields } from '../../upstreams/upstream-services.ts';

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** One field for each trait that a quirk may set. The compiler reports a trait without a field. */
const fields = {
  outputTokensMax: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'Most output tokens of one reply that its models accept.' }),
  ),
  reasoning: Type.Optional(
    Type.Enum(['none', 'budget', 'effort'], {
      description: 'How requests set the amount of reasoning: not at all, by a budget of tokens, or by an effort.',
    }),
  ),
  efforts: Type.Optional(
    Type.Array(Type.Enum([...efforts]), {
      minItems: 1,
      uniqueItems: true,
      description: 'Supported efforts, lowest first. Another effort becomes the nearest of these. Default: all.',
    }),
  ),
  alwaysReasons: flag('Whether reasoning cannot be switched off.'),
  fixedSampling: flag('Whether it refuses temperature, top_p and similar fields.'),
  structuredOutput: flag('Whether it accepts a JSON Schema for its answer. Otherwise a tool that the model must call replaces it.'),
  jsonSchemaTools: flag('Whether parameters of functions may be any JSON Schema. Otherwise they are reduced to a subset.'),
  fetchesUrls: flag('Whether it fetches images and documents from addresses. Otherwise Weir fetches and inlines them.'),
  imagesInToolResults: flag('Whether results of tools may contain images. Otherwise the images follow in a user message.'),
  prefill: flag('Whether the conversation may end with an assistant turn that the reply continues.'),
  webSearch: flag('Whether it has a built-in web search.'),
  codeExecution: flag('Whether it has built-in code execution.'),
  urlContext: flag('Whether it has a built-in tool that reads pages which the conversation names.'),
  fileSearch: flag('Whether it searches files that it stores.'),
  imageGeneration: flag('Whether its Responses interface has the tool image_generation.'),
  screenTool: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Type of its built-in tool that controls a screen. Default: the model is offered a function.',
    }),
  ),
  contextTokensMax: Type.Optional(
    Type.Integer({
      minimum: 256,
      description:
        'Most tokens of a request and its reply together. A longer Responses request, by an estimate of four characters a token, is refused with 400 if its truncation is disabled. With auto, items in its middle are removed.',
    }),
  ),
  mixesTools: flag('Whether a request may combine tools of the vendor or structured output with functions.'),
  requiresProofs: flag('Whether tool calls in the history must have the signature that it created for them.'),
  outputLimitField: Type.Optional(
    Type.Enum(['max_tokens', 'max_completion_tokens'], { description: 'The field of chat completions that limits the output.' }),
  ),
  systemRole: Type.Optional(Type.Enum(['system', 'developer'], { description: 'The role of system text.' })),
  streamOptions: flag(
    'Whether it accepts stream_options, which request the usage of a chat stream. Otherwise the usage of streams without counts is estimated. Applies to passthrough too.',
  ),
  parallelToolCallsField: flag('Whether it accepts parallel_tool_calls.'),
  forcedToolChoice: flag('Whether tool_choice may be "required" or name a function.'),
  reasoningField: Type.Optional(
    Type.Enum(['reasoning_effort', 'reasoning', 'enable_thinking', 'think', 'top_enable_thinking', 'thinking_type'], {
      description:
        'The field that controls reasoning; enable_thinking is a member of chat_template_kwargs, top_enable_thinking one of the request itself, and thinking_type is the type in thinking.',
    }),
  ),
  thinksInStreamsOnly: flag('Whether it refuses to think in a whole reply. Thinking is then switched off in those. Default: no.'),
  reasoningHistoryField: Type.Optional(
    Type.Enum(['reasoning_content', 'reasoning'], {
      description: 'The field in which it accepts earlier reasoning. Default: earlier reasoning is omitted.',
    }),
  ),
  callIds: Type.Optional(
    Type.Enum(['nine-alphanumerics'], {
      description: "The form of ids of tool calls, if it refuses others: nine letters and digits, as models of Mistral's.",
    }),
  ),
  acceptsTopK: flag('Whether it accepts top_k.'),
  acceptsLogprobs: flag(
    'Whether it accepts logprobs and top_logprobs, and returns log probabilities of tokens. Default: yes, unless the sampling of the model is fixed.',
  ),
  ownSpellings: flag(
    'Whether tool calls without a type, image addresses as strings and JSON schemas without names are sent as its clients write them. Otherwise they are converted to the format of OpenAI.',
  ),
  idempotencyKeys: flag(
    'Whether it executes requests with the same Idempotency-Key only once, as another Weir does. Attempts then carry keys that are derived from the id of their call.',
  ),
  ...serviceQuirkFields,
} satisfies Record<keyof Quirks, TSchema>;

/** Traits of an upstream that the operator overrides, by name. */
export const quirksSchema = Type.Object(fields, {
  additionalProperties: false,
  description: 'Differences of this upstream from its preset or its vendor. They apply to translated calls.',
});

/** The members of `quirks`. */
export const quirkNames: readonly string[] = Object.keys(fields);
