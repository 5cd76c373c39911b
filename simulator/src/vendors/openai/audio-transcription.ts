import { describeForm, readAudioForm } from '../../media/audio-form.ts';
import { transcribeText, type Transcript } from '../../media/audio-transcript.ts';
import { hearForeignRecording } from '../../media/read-in-thread.ts';
import type { MediaCall, MediaReply, PlannedMedia, SimulatedRequest, VendorError } from '../../simulated-vendor.ts';
import { audioErrorFrame } from './audio-errors.ts';
import { writeTranscription, writeTranscriptionEvents, writeUsage, type TranscriptionBody } from './audio-transcription-body.ts';
import { checkTranscription, type TranscriptionRequest } from './audio-transcription-request.ts';
import { refuse } from './responses-error.ts';

const shortestMs = 100;
const tokenModelMsMax = 1_400_000;
/** Above this length, a model that distinguishes speakers requires a chunking strategy. */
const unchunkedMsMax = 30_000;

/** POST /v1/audio/transcriptions and /v1/audio/translations. */
export async function answerTranscription(request: SimulatedRequest, call: MediaCall, isTranslation: boolean): Promise<MediaReply> {
  const form = await readAudioForm(request.headers['content-type'] ?? '', call.bytes);
  if (form === undefined) throw refuseForm(request);
  call.keepForm(describeForm(form));
  const transcription = checkTranscription(form, isTranslation);
  const { text } = call.steer(transcription.prompt);
  const heard = await listen(transcription, text);
  const media = planMedia(transcription, heard);
  if (transcription.isStream) {
    const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
    const events = writeTranscriptionEvents(transcription, heard, call.seed);
    return { type: 'media', status: 200, headers, ...events, errorFrame: audioErrorFrame, media };
  }
  return toReply(writeTranscription(transcription, heard, call.seed), media);
}

/** A whole reply. */
export function toReply({ contentType, text }: TranscriptionBody, media: PlannedMedia): MediaReply {
  return { type: 'media', status: 200, headers: { 'content-type': contentType }, frames: [text], media };
}

/** The text in English, marked as simulated: the simulator cannot translate. */
export function translate(heard: Transcript): Transcript {
  return { ...transcribeText(`(simulated English translation) ${heard.text}`, heard.durationMs), language: 'english' };
}

async function listen(request: TranscriptionRequest, steeredText: string | undefined): Promise<Transcript> {
  const heard = await hearForeignRecording(request.bytes);
  if (heard === undefined) throw refuseRecording(request);
  if (heard.durationMs < shortestMs) {
    throw refuse('Audio file is too short. Minimum audio length is 0.1 seconds.', { param: 'file', code: 'audio_too_short' });
  }
  checkDuration(request, heard.durationMs);
  if (steeredText !== undefined) return transcribeText(steeredText, heard.durationMs);
  if (request.isTranslation) return translate(heard);
  return request.language === undefined ? heard : { ...heard, language: request.language };
}

function checkDuration({ kind, chunksItself }: TranscriptionRequest, durationMs: number): void {
  const seconds = durationMs / 1000;
  if (kind !== 'whisper' && durationMs > tokenModelMsMax) {
    throw refuse(`audio duration ${seconds} seconds is longer than ${tokenModelMsMax / 1000} seconds which is the maximum for this model`, {
      code: 'invalid_value',
    });
  }
  if (kind === 'diarize' && durationMs > unchunkedMsMax && !chunksItself) {
    throw refuse('chunking_strategy is required for diarization models', { param: 'chunking_strategy', code: 'invalid_value' });
  }
}

function refuseForm(request: SimulatedRequest): VendorError {
  const type = request.headers['content-type'] ?? '';
  if (/^multipart\/form-data/i.test(type)) return refuse('Could not parse multipart form');
  return refuse(`Unsupported content type: '${type}'. This API method only accepts 'multipart/form-data' requests.`, { status: 415 });
}

function refuseRecording({ kind }: TranscriptionRequest): VendorError {
  return kind === 'whisper'
    ? refuse('The audio file could not be decoded or its format is not supported.')
    : refuse('Audio file might be corrupted or unsupported', { param: 'file', code: 'invalid_value' });
}

function planMedia(request: TranscriptionRequest, heard: Transcript): PlannedMedia {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = writeUsage(request, heard);
  return {
    inputAudioMs: Math.round(heard.durationMs),
    ...(typeof inputTokens === 'number' && { inputTokens }),
    ...(typeof outputTokens === 'number' && { outputTokens }),
  };
}
