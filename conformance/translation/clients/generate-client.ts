import type { TranslationClient } from '../conversation.ts';
import { readBrokenGenerationStream, readGenerateError, readGeneration, readGenerationStream } from './read-generate.ts';
import { writeGenerateCall } from './write-generate.ts';

export const generateClient: TranslationClient = {
  dialect: 'gemini-generate-content',
  title: 'Generate content',
  spelling: {
    tools: 'tools',
    choice: 'toolConfig.functionCallingConfig',
    outputTokensMax: 'generationConfig.maxOutputTokens',
    temperature: 'generationConfig.temperature',
    topP: 'generationConfig.topP',
    topK: 'generationConfig.topK',
    seed: 'generationConfig.seed',
    presencePenalty: 'generationConfig.presencePenalty',
    frequencyPenalty: 'generationConfig.frequencyPenalty',
    stop: 'generationConfig.stopSequences',
    tier: 'serviceTier',
    thinking: 'generationConfig.thinkingConfig',
    format: 'generationConfig.responseMimeType',
    turns: 'contents',
  },
  write: writeGenerateCall,
  readWhole: readGeneration,
  readStream: readGenerationStream,
  readError: readGenerateError,
  readBrokenStream: readBrokenGenerationStream,
};
