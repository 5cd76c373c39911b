import type { MediaCall, MediaReply, SimulatedRequest } from '../../simulated-vendor.ts';
import type { ListedModel } from './openai-models.ts';

/** Models of the audio routes, as the list of models names them. */
export const audioModels: readonly ListedModel[] = [
  { id: 'tts-1', created: 1_681_940_951, ownedBy: 'openai-internal' },
  { id: 'tts-1-hd', created: 1_699_046_015, ownedBy: 'system' },
  { id: 'gpt-4o-mini-tts', created: 1_742_403_959, ownedBy: 'system' },
  { id: 'whisper-1', created: 1_677_532_384, ownedBy: 'openai-internal' },
  { id: 'gpt-4o-transcribe', created: 1_742_068_463, ownedBy: 'system' },
  { id: 'gpt-4o-mini-transcribe', created: 1_742_068_596, ownedBy: 'system' },
  { id: 'gpt-4o-transcribe-diarize', created: 1_750_798_887, ownedBy: 'system' },
];

type Answer = (request: SimulatedRequest, call: MediaCall) => Promise<MediaReply>;

/** Prefix of a server as whisper.cpp brings one, without credentials. */
const whisperServerPrefix = '/whisper-cpp/';

/** Prefix of a server that speaks the vendor's paths but knows one format: `{"text"}`, whatever is asked for. */
const jsonOnlyPrefix = '/json-only/';

// The encoders and readers of audio take a tenth of a second to load, which nobody should wait for who never asks for audio.
const answerSpeech: Answer = async (request, call) => (await import('./audio-speech.ts')).answerSpeech(request, call);
const answerTranscription: Answer = async (request, call) =>
  (await import('./audio-transcription.ts')).answerTranscription(request, call, request.path.endsWith('/translations'));
const answerWhisperServer: Answer = async (request, call) => (await import('./audio-flavors.ts')).answerWhisperServer(request, call);
const answerJsonOnly: Answer = async (request, call) => (await import('./audio-flavors.ts')).answerJsonOnly(request, call);

const answers: Readonly<Record<string, Answer>> = {
  '/v1/audio/speech': answerSpeech,
  '/v1/audio/transcriptions': answerTranscription,
  '/v1/audio/translations': answerTranscription,
  [`${whisperServerPrefix}inference`]: answerWhisperServer,
  [`${jsonOnlyPrefix}v1/audio/transcriptions`]: answerJsonOnly,
  [`${jsonOnlyPrefix}v1/audio/translations`]: answerJsonOnly,
};

/** Speech, transcription and translation, and two other servers' ways to transcribe; undefined for every other route. */
export function handleAudio(request: SimulatedRequest, call: MediaCall): Promise<MediaReply> | undefined {
  if (request.method !== 'POST' || !Object.hasOwn(answers, request.path)) return undefined;
  return answers[request.path]?.(request, call);
}

/** Servers at home ask for no credential. */
export function isOpenAudio({ path }: SimulatedRequest): boolean {
  return path.startsWith(whisperServerPrefix);
}
