import Type from 'typebox';

import { documentedTranscriptFormats, type TranscriptFormat, transcriptFormats } from '../dialects/openai-audio/audio-formats.ts';

/** Paths of OpenAI's audio interface, below the base address. Absent: the server does not have it. */
type AudioPaths = { readonly speech?: string; readonly transcriptions?: string; readonly translations?: string };

/** Differences of a server from OpenAI's audio interface. */
export type AudioTraits = {
  /** The forms of transcripts that the server writes itself, minus those that its models are known not to write. */
  readonly transcriptFormats: readonly TranscriptFormat[];
  /** Whether the request contains the model. A server with a single model may refuse the field. */
  readonly modelField: boolean;
  /** The field that requests a translation, if transcriptions and translations share a path. */
  readonly translateField?: string;
};

/** The audio service of an upstream. */
export type AudioService = AudioPaths & AudioTraits;

/** Differences from the usual service. An empty path means that the server does not have it. */
export type AudioQuirks = Partial<AudioService>;

/** The configuration of these quirks. */
export const audioQuirksSchema = Type.Object(
  {
    speech: path('speech is generated'),
    transcriptions: path('speech is transcribed'),
    translations: path('speech is translated'),
    transcriptFormats: Type.Optional(
      Type.Array(Type.Enum([...transcriptFormats]), {
        minItems: 1,
        uniqueItems: true,
        description: 'The response formats that the server writes itself. Others are written from verbose_json. Default: all.',
      }),
    ),
    modelField: Type.Optional(Type.Boolean({ description: 'Whether requests contain the model. Default: true.' })),
    translateField: Type.Optional(
      Type.String({ minLength: 1, description: 'The form field that requests a translation, if both share a path.' }),
    ),
  },
  { additionalProperties: false, description: "Differences of its audio interface from OpenAI's." },
);

function path(what: string) {
  return Type.Optional(
    Type.String({
      pattern: '^(/[!-~]*)?$',
      description: `The path where ${what}, below the base address. Empty: the server does not have it.`,
    }),
  );
}

const usualTraits: AudioTraits = { transcriptFormats, modelField: true };

/** The service of an upstream without audio. */
export const noAudio: AudioService = usualTraits;

/** OpenAI's own service, and most servers with its interface. */
export const openaiAudio: AudioService = {
  ...usualTraits,
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
};

/** Applies quirks to a service. */
export function applyAudioQuirks(quirks: AudioQuirks, offered: AudioService = noAudio): AudioService {
  const { speech, transcriptions, translations, ...traits } = { ...offered, ...quirks };
  return {
    ...traits,
    ...(isThere(speech) && { speech }),
    ...(isThere(transcriptions) && { transcriptions }),
    ...(isThere(translations) && { translations }),
  };
}

function isThere(found: string | undefined): boolean {
  return found !== undefined && found !== '';
}

/**
 * whisper.cpp, examples/server: one path for everything, and a field that requests a translation. It runs the model
 * that it was started with.
 */
export const whisperCppAudio: AudioQuirks = {
  speech: '',
  transcriptions: '/inference',
  translations: '/inference',
  transcriptFormats: documentedTranscriptFormats,
  modelField: false,
  translateField: 'translate',
};

/** docs.vllm.ai, 2026: it writes no subtitles. */
export const vllmAudio: AudioQuirks = { transcriptFormats: ['json', 'text', 'verbose_json'] };

/** console.groq.com/docs/speech-to-text: no subtitles. */
export const groqAudio: AudioQuirks = { transcriptFormats: ['json', 'text', 'verbose_json'] };
