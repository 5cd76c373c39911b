import { describeForm, readAudioForm, type AudioForm } from '../../media/audio-form.ts';
import { codeOfLanguage, nameOfLanguage } from '../../media/audio-language.ts';
import { writeSrt, writeVtt } from '../../media/audio-subtitles.ts';
import { transcribeText, type Transcript } from '../../media/audio-transcript.ts';
import { hearForeignRecording } from '../../media/read-in-thread.ts';
import { VendorError, type JsonRecord, type MediaCall, type MediaReply, type SimulatedRequest } from '../../simulated-vendor.ts';
import { writeSegments, type TranscriptionBody } from './audio-transcription-body.ts';
import { toReply, translate } from './audio-transcription.ts';

/** The answer is `{"text"}` for any request: no segments, no duration, no usage. */
export async function answerJsonOnly(request: SimulatedRequest, call: MediaCall): Promise<MediaReply> {
  const { heard } = await listen(request, call);
  return toReply(
    { contentType: 'application/json', text: JSON.stringify({ text: heard.text }) },
    { inputAudioMs: Math.round(heard.durationMs) },
  );
}

/** The answer of whisper.cpp's server, with its own types, its leading spaces and its own members of verbose_json. */
export async function answerWhisperServer(request: SimulatedRequest, call: MediaCall): Promise<MediaReply> {
  const { form, heard } = await listen(request, call);
  const isTranslation = valueOf(form, 'translate') === 'true';
  const said = isTranslation ? translate(heard) : heard;
  const language = nameOfLanguage(valueOf(form, 'language') ?? '') ?? said.language;
  const temperature = Number(valueOf(form, 'temperature') ?? 0) || 0;
  const body = writeWhisper(
    valueOf(form, 'response_format') ?? 'json',
    { ...said, language },
    { isTranslation, temperature, seed: call.seed },
  );
  return toReply(body, { inputAudioMs: Math.round(heard.durationMs) });
}

type WhisperOptions = { readonly isTranslation: boolean; readonly temperature: number; readonly seed: string };

function writeWhisper(format: string, heard: Transcript, options: WhisperOptions): TranscriptionBody {
  const lines = heard.segments.map(({ text }) => ` ${text}\n`).join('');
  switch (format) {
    case 'text':
      return { contentType: 'text/html; charset=utf-8', text: lines };
    case 'srt':
      return { contentType: 'application/x-subrip', text: writeSrt(heard.segments) };
    case 'vtt':
      return { contentType: 'text/vtt', text: writeVtt(heard.segments) };
    case 'verbose_json':
      return { contentType: 'application/json', text: JSON.stringify(writeVerbose(lines, heard, options)) };
    default:
      return { contentType: 'application/json', text: JSON.stringify({ text: lines }) };
  }
}

function writeVerbose(text: string, heard: Transcript, { isTranslation, temperature, seed }: WhisperOptions): JsonRecord {
  const code = codeOfLanguage(heard.language) ?? 'en';
  return {
    task: isTranslation ? 'translate' : 'transcribe',
    language: heard.language,
    duration: heard.durationMs / 1000,
    text,
    segments: writeSegments(heard, temperature, seed).map(({ seek: _seek, compression_ratio: _ratio, ...segment }, index) => ({
      ...segment,
      words: wordsOf(heard, index),
    })),
    detected_language: heard.language,
    detected_language_probability: 0.97,
    language_probabilities: { [code]: 0.97 },
  };
}

function wordsOf({ segments, words }: Transcript, index: number): JsonRecord[] {
  const { startMs, endMs } = segments[index] ?? { startMs: 0, endMs: 0 };
  return words
    .filter((word) => word.startMs >= startMs && word.endMs <= endMs)
    .map((word) => ({ word: ` ${word.word}`, start: word.startMs / 1000, end: word.endMs / 1000, t_dtw: -1, probability: 0.9 }));
}

async function listen(request: SimulatedRequest, call: MediaCall): Promise<{ readonly form: AudioForm; readonly heard: Transcript }> {
  const form = await readAudioForm(request.headers['content-type'] ?? '', call.bytes);
  if (form?.file === undefined) throw fail("no 'file' field in the request");
  call.keepForm(describeForm(form));
  const { text } = call.steer(valueOf(form, 'prompt') ?? '');
  const heard = await hearForeignRecording(form.file.bytes);
  if (heard === undefined) throw fail('failed to read audio data');
  return { form, heard: text === undefined ? heard : transcribeText(text, heard.durationMs) };
}

function fail(message: string): VendorError {
  return new VendorError(400, { error: message }, message);
}

function valueOf({ texts }: AudioForm, name: string): string | undefined {
  return texts.get(name)?.at(-1);
}
