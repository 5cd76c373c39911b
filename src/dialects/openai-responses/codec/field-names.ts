import type { FieldNames } from '../../../inference/translation-notes.ts';

/** The names of the neutral fields in requests of this dialect. */
export const fieldNames: FieldNames = {
  instructions: 'instructions',
  tools: 'tools',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  outputTokensMax: 'max_output_tokens',
  stopSequences: undefined,
  outputFormat: 'text.format',
  temperature: 'temperature',
  topP: 'top_p',
  topK: undefined,
  seed: undefined,
  presencePenalty: undefined,
  frequencyPenalty: undefined,
  reasoning: 'reasoning',
  endUser: 'user',
  serviceTier: 'service_tier',
  verbosity: 'text.verbosity',
  turns: 'input',
};
