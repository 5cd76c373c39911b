import type { FieldNames } from '../../../inference/translation-notes.ts';

/** How clients of this dialect spell the neutral fields. */
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
