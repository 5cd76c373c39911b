import { documentedTranscriptFormats, type TranscriptFormat } from './audio-formats.ts';

/** The properties of a model that transcribes audio. */
export type TranscriptionModel = {
  /** The formats in which it can answer. */
  readonly formats: readonly TranscriptFormat[];
  /** False if it answers a stream request with an ordinary reply. Undefined: unknown. */
  readonly streams?: boolean;
  readonly billedBy: 'duration' | 'tokens';
  readonly isDiarizing?: boolean;
};

type Rule<Model> = { readonly names: RegExp; readonly model: Model };

/** platform.openai.com/docs/api-reference/audio, July 2026: which model answers in which form. */
const transcriptionRules: readonly Rule<TranscriptionModel>[] = [
  { names: /^whisper-1$/, model: { formats: documentedTranscriptFormats, streams: false, billedBy: 'duration' } },
  {
    names: /^gpt-4o(?:-mini)?-transcribe-diarize/,
    model: { formats: ['json', 'text', 'diarized_json'], streams: true, billedBy: 'tokens', isDiarizing: true },
  },
  { names: /^gpt-(?:4o-)?(?:mini-)?transcribe/, model: { formats: ['json'], streams: true, billedBy: 'tokens' } },
];

/** Most servers with an unknown model run Whisper, whose makers bill by the minute. */
const unknownTranscriptionModel: Omit<TranscriptionModel, 'formats'> = { billedBy: 'duration' };

/**
 * Finds the properties of a model by its name at the upstream.
 * @param serverFormats the formats of its server, for models that are not in the table
 */
export function transcriptionModelOf(upstreamModel: string, serverFormats: readonly TranscriptFormat[]): TranscriptionModel {
  const match = transcriptionRules.find(({ names }) => names.test(upstreamModel.toLowerCase()))?.model;
  if (match === undefined) return { ...unknownTranscriptionModel, formats: serverFormats };
  // A server that imitates the interface may support fewer formats than the model's maker, but never more.
  return { ...match, formats: match.formats.filter((format) => serverFormats.includes(format)) };
}

/** The properties of a model that generates speech. */
export type SpeechModel = { readonly billedBy: 'characters' | 'tokens'; readonly streamsEvents?: boolean };

const speechRules: readonly Rule<SpeechModel>[] = [
  { names: /^tts-1/, model: { billedBy: 'characters', streamsEvents: false } },
  { names: /^gpt-.*tts/, model: { billedBy: 'tokens', streamsEvents: true } },
];

/**
 * Finds the properties of a model by its name at the upstream. Unknown servers are priced by the character, which can
 * always be counted.
 */
export function speechModelOf(upstreamModel: string): SpeechModel {
  return speechRules.find(({ names }) => names.test(upstreamModel.toLowerCase()))?.model ?? { billedBy: 'characters' };
}
