import { isRecord, recordsOf } from '../../read-json.ts';
import type { Json, MediaCall, MediaReply, SimulatedReply, SimulatedRequest } from '../../simulated-vendor.ts';
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

type Answer = (request: SimulatedRequest, call: MediaCall) => Promise<MediaReply | SimulatedReply>;

/** Prefix of a server like whisper.cpp, without credentials. */
const whisperServerPrefix = '/whisper-cpp/';

/** Prefix of a server with the vendor's paths and one format, `{"text"}`, whatever the request is. */
const jsonOnlyPrefix = '/json-only/';

// The encoders and readers of audio take a tenth of a second to load, which calls without audio do not need.
const answerSpeech: Answer = async (request, call) => (await import('./audio-speech.ts')).answerSpeech(request, call);
const answerTranscription: Answer = async (request, call) =>
  (await import('./audio-transcription.ts')).answerTranscription(request, call, request.path.endsWith('/translations'));
const answerWhisperServer: Answer = async (request, call) => (await import('./audio-flavors.ts')).answerWhisperServer(request, call);
const answerAudioChat: Answer = async (request, call) => (await import('./chat-audio.ts')).answerAudioChat(request, call);
const answerJsonOnly: Answer = async (request, call) => (await import('./audio-flavors.ts')).answerJsonOnly(request, call);

const answers: Readonly<Record<string, Answer>> = {
  '/v1/audio/speech': answerSpeech,
  '/v1/audio/transcriptions': answerTranscription,
  '/v1/audio/translations': answerTranscription,
  [`${whisperServerPrefix}inference`]: answerWhisperServer,
  [`${jsonOnlyPrefix}v1/audio/transcriptions`]: answerJsonOnly,
  [`${jsonOnlyPrefix}v1/audio/translations`]: answerJsonOnly,
};

/**
 * Speech, transcription and translation, the transcriptions of two other servers, and chats with audio input or output;
 * undefined for everything else.
 */
export function handleAudio(request: SimulatedRequest, call: MediaCall): Promise<MediaReply | SimulatedReply> | undefined {
  if (request.method !== 'POST') return undefined;
  if (isAudioChat(request)) return answerAudioChat(request, call);
  if (!Object.hasOwn(answers, request.path)) return undefined;
  return answers[request.path]?.(request, call);
}

function isAudioChat({ path, headers, body }: SimulatedRequest): boolean {
  if (path !== '/v1/chat/completions' || body === undefined || !/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    return false;
  const { modalities, messages } = body;
  return (Array.isArray(modalities) && modalities.includes('audio')) || recordsOf(messages).some(({ content }) => hasRecording(content));
}

function hasRecording(content: Json | undefined): boolean {
  return Array.isArray(content) && content.some((part) => isRecord(part) && part['type'] === 'input_audio');
}

/** Self-hosted servers require no credential. */
export function isOpenAudio({ path }: SimulatedRequest): boolean {
  return path.startsWith(whisperServerPrefix);
}
