import Type, { type TSchema } from 'typebox';

import type { Quirks } from '../../upstreams/apply-quirks.ts';
import { serviceQuirkFields } from '../../upstreams/upstream-services.ts';

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** One field for each trait that a quirk may set; a trait without a field here does not compile. */
const fields = {
  outputTokensMax: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'The most output tokens its models accept in one reply.' }),
  ),
  reasoning: Type.Optional(
    Type.Enum(['none', 'budget', 'effort'], {
      description: 'How its models are told how much to think: not at all, by a budget of tokens, or by an effort.',
    }),
  ),
  efforts: Type.Optional(
    Type.Array(Type.Enum([...efforts]), {
      minItems: 1,
      uniqueItems: true,
      description: 'The efforts it knows, least first. Others become the nearest of these. Default: all.',
    }),
  ),
  alwaysReasons: flag('True if thinking cannot be switched off.'),
  fixedSampling: flag('True if it refuses temperature, top_p and the like.'),
  structuredOutput: flag('Whether it takes a JSON Schema for its answer. Otherwise a tool that must be called stands in.'),
  jsonSchemaTools: flag("Whether functions' parameters may be any JSON Schema. Otherwise a subset."),
  fetchesUrls: flag('Whether it fetches images and documents that are given as an address. Otherwise Weir fetches and inlines them.'),
  imagesInToolResults: flag('Whether results of tools may hold images. Otherwise these follow in a user message.'),
  prefill: flag('Whether the conversation may end with an assistant turn that the reply continues.'),
  webSearch: flag('Whether it has a web search of its own.'),
  codeExecution: flag('Whether it runs code by itself.'),
  urlContext: flag('Whether it reads pages that the conversation names.'),
  fileSearch: flag('Whether it searches files that it keeps itself.'),
  imageGeneration: flag('Whether its Responses interface has the tool image_generation.'),
  screenTool: Type.Optional(
    Type.String({ minLength: 1, description: 'The type of its own tool for steering a screen. Default: the model is offered a function.' }),
  ),
  contextTokensMax: Type.Optional(
    Type.Integer({
      minimum: 256,
      description:
        'Tokens that a request and its reply may have together. A Responses request with truncation: disabled that is estimated to exceed it (four characters a token) is refused with 400; with auto, items leave its middle.',
    }),
  ),
  mixesTools: flag('Whether tools of the vendor and structured output may be asked for together with functions.'),
  requiresProofs: flag('Whether calls of tools in the history must come with the signature that it made for them.'),
  outputLimitField: Type.Optional(
    Type.Enum(['max_tokens', 'max_completion_tokens'], { description: 'The field of chat completions that limits the output.' }),
  ),
  systemRole: Type.Optional(Type.Enum(['system', 'developer'], { description: 'The role under which it takes system text.' })),
  streamOptions: flag(
    'Whether chat streams may be asked for usage with stream_options. Without it, streams that carry no usage are counted by estimate. Passthrough too.',
  ),
  parallelToolCallsField: flag('Whether it takes parallel_tool_calls.'),
  forcedToolChoice: flag('Whether tool_choice may be "required" or name a function.'),
  reasoningField: Type.Optional(
    Type.Enum(['reasoning_effort', 'reasoning', 'enable_thinking', 'think'], {
      description: 'The field that steers thinking; enable_thinking is a member of chat_template_kwargs.',
    }),
  ),
  reasoningHistoryField: Type.Optional(
    Type.Enum(['reasoning_content', 'reasoning'], {
      description: 'The field in which it wants earlier thoughts back. Default: they are left out.',
    }),
  ),
  acceptsTopK: flag('Whether it takes top_k.'),
  acceptsLogprobs: flag(
    'Whether it tells how likely tokens were, and takes logprobs and top_logprobs. Default: yes, unless the sampling of the model is fixed.',
  ),
  ownSpellings: flag(
    'Whether tool calls without a type, addresses of images as texts and JSON schemas without names pass as its own clients write them. Otherwise they are sent as OpenAI has them.',
  ),
  idempotencyKeys: flag(
    'Whether it makes a request once that comes again with the same Idempotency-Key, as another Weir does. Then attempts carry keys made from the id of their call.',
  ),
  ...serviceQuirkFields,
} satisfies Record<keyof Quirks, TSchema>;

/** The traits of an upstream that the operator knows better, by their names. */
export const quirksSchema = Type.Object(fields, {
  additionalProperties: false,
  description: 'Where this upstream departs from its preset, or from what its vendor usually does. Used where a call is translated.',
});

/** What may be written under `quirks`. */
export const quirkNames: readonly string[] = Object.keys(fields);
