import { documentedTranscriptFormats, type TranscriptFormat } from './audio-formats.ts';

/** What is known of a model that writes speech down. */
export type TranscriptionModel = {
  /** The forms that it answers in by itself. */
  readonly formats: readonly TranscriptFormat[];
  /** False where a stream that is asked for is not made, and the answer is an ordinary one. Undefined: nobody knows. */
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

/** A model of which nothing is known is what most servers run: Whisper, whose makers bill by the minute. */
const unknownTranscriptionModel: Omit<TranscriptionModel, 'formats'> = { billedBy: 'duration' };

/**
 * Looks a model up by its name at its upstream.
 * @param serverFormats what its server answers in, for models that are not known by name
 */
export function transcriptionModelOf(upstreamModel: string, serverFormats: readonly TranscriptFormat[]): TranscriptionModel {
  const known = transcriptionRules.find(({ names }) => names.test(upstreamModel.toLowerCase()))?.model;
  if (known === undefined) return { ...unknownTranscriptionModel, formats: serverFormats };
  // A server that imitates the interface may offer less than the model's maker does, and never more.
  return { ...known, formats: known.formats.filter((format) => serverFormats.includes(format)) };
}

/** What is known of a model that reads text out. */
export type SpeechModel = { readonly billedBy: 'characters' | 'tokens'; readonly streamsEvents?: boolean };

const speechRules: readonly Rule<SpeechModel>[] = [
  { names: /^tts-1/, model: { billedBy: 'characters', streamsEvents: false } },
  { names: /^gpt-.*tts/, model: { billedBy: 'tokens', streamsEvents: true } },
];

/** Looks a model up by its name at its upstream. Servers that nobody knows are priced by the character, which is what can always be counted. */
export function speechModelOf(upstreamModel: string): SpeechModel {
  return speechRules.find(({ names }) => names.test(upstreamModel.toLowerCase()))?.model ?? { billedBy: 'characters' };
}
