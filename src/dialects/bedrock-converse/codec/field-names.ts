import type { FieldNames } from '../../../inference/translation-notes.ts';

/** The names of the neutral fields in this dialect. Only the doctor and the judge of moderations read them. */
export const fieldNames: FieldNames = {
  instructions: 'system',
  tools: 'toolConfig.tools',
  toolChoice: 'toolConfig.toolChoice',
  parallelToolCalls: undefined,
  outputTokensMax: 'inferenceConfig.maxTokens',
  stopSequences: 'inferenceConfig.stopSequences',
  outputFormat: 'outputConfig.textFormat',
  temperature: 'inferenceConfig.temperature',
  topP: 'inferenceConfig.topP',
  topK: 'additionalModelRequestFields',
  seed: undefined,
  presencePenalty: undefined,
  frequencyPenalty: undefined,
  reasoning: 'additionalModelRequestFields',
  endUser: undefined,
  serviceTier: 'serviceTier.type',
  verbosity: undefined,
  turns: 'messages',
};
