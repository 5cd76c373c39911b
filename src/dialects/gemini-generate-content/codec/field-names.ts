import type { FieldNames } from '../../../inference/translation-notes.ts';

/** The names of the neutral fields in this dialect. */
export const fieldNames: FieldNames = {
  instructions: 'systemInstruction',
  tools: 'tools',
  toolChoice: 'toolConfig.functionCallingConfig',
  parallelToolCalls: undefined,
  outputTokensMax: 'generationConfig.maxOutputTokens',
  stopSequences: 'generationConfig.stopSequences',
  outputFormat: 'generationConfig.responseMimeType',
  temperature: 'generationConfig.temperature',
  topP: 'generationConfig.topP',
  topK: 'generationConfig.topK',
  seed: 'generationConfig.seed',
  presencePenalty: 'generationConfig.presencePenalty',
  frequencyPenalty: 'generationConfig.frequencyPenalty',
  reasoning: 'generationConfig.thinkingConfig',
  endUser: undefined,
  serviceTier: 'serviceTier',
  verbosity: undefined,
  turns: 'contents',
};
