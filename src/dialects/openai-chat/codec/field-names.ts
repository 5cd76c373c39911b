import type { FieldNames } from '../../../inference/translation-notes.ts';

/** The names of the neutral fields in requests of this dialect. */
export const fieldNames: FieldNames = {
  instructions: 'messages',
  tools: 'tools',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  outputTokensMax: 'max_completion_tokens',
  stopSequences: 'stop',
  outputFormat: 'response_format',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  reasoning: 'reasoning_effort',
  endUser: 'user',
  serviceTier: 'service_tier',
  verbosity: 'verbosity',
  turns: 'messages',
};
