import { documentedTranscriptFormats, type TranscriptFormat, transcriptFormats } from '../dialects/openai-audio/audio-formats.ts';
import type { AudioPaths } from './audio-paths.ts';

/** What a server of the audio interface does otherwise than its maker's. */
export type AudioTraits = {
  /** The forms of transcripts that it writes by itself. What its models are known not to write is taken off. */
  readonly transcriptFormats: readonly TranscriptFormat[];
  /** Whether it is told the model. A server that runs a single one may refuse the field. */
  readonly modelField: boolean;
  /** The field that makes a translation of a transcription, where both have one path. */
  readonly translateField?: string;
};

/** Where a server departs from that, and where its routes lie, below the base address. */
export type AudioQuirks = AudioPaths & Partial<AudioTraits>;

export const usualAudioTraits: AudioTraits = { transcriptFormats, modelField: true };

/** Lays quirks over what is usual. */
export function applyAudioQuirks(quirks: AudioQuirks): AudioTraits {
  const { transcriptFormats: formats, modelField, translateField } = quirks;
  return {
    transcriptFormats: formats ?? usualAudioTraits.transcriptFormats,
    modelField: modelField ?? usualAudioTraits.modelField,
    ...(translateField === undefined ? {} : { translateField }),
  };
}

/** The paths of a vendor, with those that a server has elsewhere. An empty one is not there. */
export function applyAudioPaths(paths: AudioPaths, quirks: AudioQuirks): AudioPaths {
  const merged = { ...paths, ...quirks };
  const path = (name: keyof AudioPaths): AudioPaths => (merged[name] === undefined || merged[name] === '' ? {} : { [name]: merged[name] });
  return { ...path('speech'), ...path('transcriptions'), ...path('translations') };
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
