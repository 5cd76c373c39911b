import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { createValueSchema } from './content-schemas.ts';
import { freeObject, optional, optionalFlag, optionalText } from './common-schemas.ts';
import type { SchemaKit } from '../schema-builders.ts';

const speechLanguages = 'zh-CN en-US ja-JP ko-KR fr-FR de-DE es-ES pt-BR hi-IN ar-XA it-IT tr-TR vi-VN th-TH ru-RU pl-PL nl-NL'.split(' ');

function createSpeechConfig(kit: SchemaKit): TSchema {
  const voiceConfig = kit.object({ prebuiltVoiceConfig: optional(kit.object({ voiceName: optionalText })) });
  const speakerVoice = kit.object({ speaker: optionalText, voiceConfig: optional(voiceConfig) });
  return kit.object({
    voiceConfig: optional(voiceConfig),
    multiSpeakerVoiceConfig: optional(kit.object({ speakerVoiceConfigs: optional(Type.Array(speakerVoice)) })),
    // The vendor supports more languages than the contract lists, and more every year.
    languageCode: optional(kit.isCompatible ? Type.String() : kit.words(speechLanguages)),
  });
}

function createThinkingConfig(kit: SchemaKit): TSchema {
  return kit.object(
    // -1 lets the model decide.
    { includeThoughts: optionalFlag, thinkingBudget: optional(Type.Integer({ minimum: -1 })) },
    { thinkingLevel: optional(kit.words(['THINKING_LEVEL_UNSPECIFIED'], ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'])) },
  );
}

const resolutions = ['MEDIA_RESOLUTION_UNSPECIFIED', 'MEDIA_RESOLUTION_LOW', 'MEDIA_RESOLUTION_MEDIUM', 'MEDIA_RESOLUTION_HIGH'];

export function createGenerationConfigSchema(kit: SchemaKit): TSchema {
  return kit.object(
    {
      stopSequences: optional(Type.Array(Type.String(), { maxItems: 5 })),
      responseMimeType: optional(kit.words(['text/plain', 'application/json', 'text/x.enum'])),
      responseSchema: optional(createValueSchema(kit)),
      responseModalities: optional(Type.Array(kit.words(['MODALITY_UNSPECIFIED', 'TEXT', 'IMAGE', 'AUDIO'], ['VIDEO']))),
      candidateCount: optional(Type.Integer({ minimum: 1 })),
      maxOutputTokens: optional(Type.Integer({ minimum: 1 })),
      temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
      topP: optional(Type.Number({ minimum: 0, maximum: 1 })),
      topK: optional(Type.Integer({ minimum: 1 })),
      seed: optional(Type.Integer()),
      presencePenalty: optional(Type.Number()),
      frequencyPenalty: optional(Type.Number()),
      responseLogprobs: optionalFlag,
      logprobs: optional(Type.Integer({ minimum: 0 })),
      enableEnhancedCivicAnswers: optionalFlag,
      speechConfig: optional(createSpeechConfig(kit)),
      thinkingConfig: optional(createThinkingConfig(kit)),
      mediaResolution: optional(kit.words(resolutions)),
    },
    {
      responseJsonSchema: optional(Type.Unknown()),
      _responseJsonSchema: optional(Type.Unknown()),
      responseFormat: optional(
        Type.Object({
          text: optional(Type.Object({ mimeType: optionalText, schema: optional(freeObject) })),
          image: optional(freeObject),
          audio: optional(freeObject),
        }),
      ),
      imageConfig: optional(Type.Object({ aspectRatio: optionalText, imageSize: optionalText })),
      audioTimestamp: optionalFlag,
      enableAffectiveDialog: optionalFlag,
      translationConfig: optional(freeObject),
      audioTranscriptionConfig: optional(freeObject),
    },
  );
}
