import type { FieldNames } from '../../../inference/translation-notes.ts';

/** The names of the neutral fields in this dialect. */
export const fieldNames: FieldNames = {
  instructions: 'system',
  tools: 'tools',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
  outputTokensMax: 'max_tokens',
  stopSequences: 'stop_sequences',
  outputFormat: 'output_config.format',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  seed: undefined,
  presencePenalty: undefined,
  frequencyPenalty: undefined,
  reasoning: 'thinking',
  endUser: 'metadata.user_id',
  serviceTier: 'service_tier',
  verbosity: undefined,
  turns: 'messages',
};
