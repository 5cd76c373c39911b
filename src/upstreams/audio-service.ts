import Type from 'typebox';

import { documentedTranscriptFormats, type TranscriptFormat, transcriptFormats } from '../dialects/openai-audio/audio-formats.ts';

/** Paths of OpenAI's audio interface, below the base address. One that is absent is not there. */
type AudioPaths = { readonly speech?: string; readonly transcriptions?: string; readonly translations?: string };

/** What a server of the audio interface does otherwise than its maker's. */
export type AudioTraits = {
  /** The forms of transcripts that it writes by itself. What its models are known not to write is taken off. */
  readonly transcriptFormats: readonly TranscriptFormat[];
  /** Whether it is told the model. A server that runs a single one may refuse the field. */
  readonly modelField: boolean;
  /** The field that makes a translation of a transcription, where both have one path. */
  readonly translateField?: string;
};

/** Where sound is made and read, and how. */
export type AudioService = AudioPaths & AudioTraits;

/** Where a server departs from what is usual. An empty path is not there. */
export type AudioQuirks = Partial<AudioService>;

/** How quirks are written. */
export const audioQuirksSchema = Type.Object(
  {
    speech: path('speech is made'),
    transcriptions: path('speech is transcribed'),
    translations: path('speech is translated'),
    transcriptFormats: Type.Optional(
      Type.Array(Type.Enum([...transcriptFormats]), {
        minItems: 1,
        uniqueItems: true,
        description: 'The response formats that it writes itself. Others are written from verbose_json. Default: all.',
      }),
    ),
    modelField: Type.Optional(Type.Boolean({ description: 'Whether it is told the model. Default: true.' })),
    translateField: Type.Optional(
      Type.String({ minLength: 1, description: 'The form field that makes it translate, where both are at one path.' }),
    ),
  },
  { additionalProperties: false, description: 'Where its audio interface departs from the usual one.' },
);

function path(what: string) {
  return Type.Optional(Type.String({ pattern: '^(/[!-~]*)?$', description: `Where ${what}, below the base address. Empty: nowhere.` }));
}

const usualTraits: AudioTraits = { transcriptFormats, modelField: true };

/** What there is of sound at an upstream without any. */
export const noAudio: AudioService = usualTraits;

/** OpenAI's own service, and most servers like it. */
export const openaiAudio: AudioService = {
  ...usualTraits,
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
};

/** Lays quirks over a service. */
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

/** whisper.cpp, examples/server: one path for everything, and a switch for translating. It runs the model it was started with. */
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
