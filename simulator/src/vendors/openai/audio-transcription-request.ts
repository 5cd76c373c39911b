import { nameOfLanguage } from '../../media/audio-language.ts';
import type { AudioForm } from '../../media/audio-form.ts';
import { refuseMissingModel } from './audio-errors.ts';
import { refuse } from './responses-error.ts';

/**
 * The unit of a model's transcriptions: seconds for whisper-1, tokens for the newer ones; one of these distinguishes
 * speakers.
 */
type TranscriptionKind = 'whisper' | 'tokens' | 'diarize';

type TranscriptionFormat = 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt' | 'diarized_json';

export type TranscriptionRequest = {
  readonly kind: TranscriptionKind;
  readonly isTranslation: boolean;
  readonly model: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly format: TranscriptionFormat;
  /** Lower-case English name of the language that the caller declares. */
  readonly language: string | undefined;
  readonly prompt: string;
  readonly temperature: number;
  readonly hasWords: boolean;
  readonly hasSegments: boolean;
  readonly hasLogprobs: boolean;
  readonly isStream: boolean;
  readonly chunksItself: boolean;
  readonly speakers: readonly string[];
};

const fileBytesMax = 26_214_400;
const extensions = ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm'];

const formatsOf: Readonly<Record<TranscriptionKind, readonly TranscriptionFormat[]>> = {
  whisper: ['json', 'text', 'srt', 'verbose_json', 'vtt'],
  tokens: ['json'],
  diarize: ['json', 'text', 'diarized_json'],
};

const translationFields = ['model', 'prompt', 'response_format', 'temperature'];
const transcriptionFields = [
  ...translationFields,
  'language',
  'languages',
  'keywords',
  'include',
  'timestamp_granularities',
  'stream',
  'chunking_strategy',
  'known_speaker_names',
  'known_speaker_references',
];

/** Checks the form of a transcription or translation as the vendor does. Throws VendorError to refuse. */
export function checkTranscription(form: AudioForm, isTranslation: boolean): TranscriptionRequest {
  const model = textOf(form, 'model');
  if (model === undefined || model === '') throw refuse('you must provide a model parameter');
  if (model.startsWith('missing-')) throw refuseMissingModel(model);
  const kind = kindOf(model);
  if (isTranslation && kind !== 'whisper') throw refuse(`The model '${model}' does not support translation.`, { param: 'model' });
  const known = isTranslation ? translationFields : transcriptionFields;
  const unknown = [...form.texts.keys()].find((name) => !known.includes(name.replace(/\[\]$/, '')));
  if (unknown !== undefined) throw refuse(`Unrecognized request argument supplied: ${unknown}`);
  const format = readFormat(form, kind, model);
  const granularities = readGranularities(form, format);
  return {
    kind,
    isTranslation,
    model,
    bytes: readFile(form),
    format,
    language: readLanguage(form),
    prompt: readPrompt(form, kind),
    temperature: readTemperature(form),
    hasWords: granularities.includes('word'),
    hasSegments: granularities.includes('segment'),
    hasLogprobs: readInclude(form, kind),
    // The oldest model does not support streams and answers as if none had been requested.
    isStream: readFlag(form, 'stream') && kind !== 'whisper',
    chunksItself: textOf(form, 'chunking_strategy') !== undefined,
    speakers: listOf(form, 'known_speaker_names'),
  };
}

function kindOf(model: string): TranscriptionKind {
  if (model.includes('diarize')) return 'diarize';
  return model.includes('transcribe') ? 'tokens' : 'whisper';
}

function readFile({ file }: AudioForm): Uint8Array<ArrayBuffer> {
  if (file === undefined)
    throw refuse("[{'type': 'missing', 'loc': ('body', 'file'), 'msg': 'Field required', 'input': None}]", { param: 'file' });
  const { name, bytes } = file;
  if (bytes.length > fileBytesMax) {
    throw refuse(`Maximum content size limit (${fileBytesMax}) exceeded (${bytes.length} bytes read)`, {
      status: 413,
      type: 'server_error',
    });
  }
  const list = `[${extensions.map((extension) => `'${extension}'`).join(', ')}]`;
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase();
  if (extension === undefined) throw refuse(`Unrecognized file format. Supported formats: ${list}`);
  if (!extensions.includes(extension)) throw refuse(`Invalid file format. Supported formats: ${list}`);
  return bytes;
}

function readFormat(form: AudioForm, kind: TranscriptionKind, model: string): TranscriptionFormat {
  const name = textOf(form, 'response_format') ?? 'json';
  const known = formatsOf[kind].find((format) => format === name);
  if (known !== undefined) return known;
  const others = formatsOf[kind].map((format) => `'${format}'`).join(' or ');
  const isOfAnother = Object.values(formatsOf).some((formats) => formats.some((format) => format === name));
  throw refuse(
    isOfAnother
      ? `response_format '${name}' is not compatible with model '${model}'. Use ${others} instead.`
      : `Invalid value: '${name}'. Supported values are: ${formatsOf[kind].map((format) => `'${format}'`).join(', ')}.`,
    { param: 'response_format', code: isOfAnother ? 'unsupported_value' : 'invalid_value' },
  );
}

function readGranularities(form: AudioForm, format: TranscriptionFormat): readonly string[] {
  const param = 'timestamp_granularities';
  const list = listOf(form, param);
  if (list.length === 0) return ['segment'];
  const wrong = list.find((name) => name !== 'word' && name !== 'segment');
  if (wrong !== undefined) {
    throw refuse(`Invalid value: '${wrong}'. Supported values are: 'word' and 'segment'.`, { param, code: 'invalid_value' });
  }
  if (format !== 'verbose_json') {
    throw refuse("Timestamp granularities are only supported with response_format 'verbose_json'.", { param, code: 'unsupported_value' });
  }
  return list;
}

function readLanguage(form: AudioForm): string | undefined {
  const code = textOf(form, 'language');
  if (code === undefined || code === '') return undefined;
  const name = nameOfLanguage(code);
  if (name !== undefined) return name;
  throw refuse(`Invalid language '${code}'. Language parameter must be specified in ISO-639-1 or ISO-639-3 format.`, {
    param: 'language',
    code: 'invalid_language_format',
  });
}

function readPrompt(form: AudioForm, kind: TranscriptionKind): string {
  const prompt = textOf(form, 'prompt') ?? '';
  if (prompt !== '' && kind === 'diarize') {
    throw refuse('Prompt is not supported for diarization models.', { param: 'prompt', code: 'unsupported_value' });
  }
  return prompt;
}

function readTemperature(form: AudioForm): number {
  const text = textOf(form, 'temperature');
  if (text === undefined) return 0;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= 0 && value <= 1) return value;
  throw refuse(`Invalid 'temperature': expected a number from 0 to 1, but got '${text}' instead.`, {
    param: 'temperature',
    code: 'invalid_value',
  });
}

function readInclude(form: AudioForm, kind: TranscriptionKind): boolean {
  const list = listOf(form, 'include');
  const wrong = list.find((name) => name !== 'logprobs');
  if (wrong !== undefined) {
    throw refuse(`Invalid value: '${wrong}'. Supported values are: 'logprobs'.`, { param: 'include', code: 'invalid_value' });
  }
  if (list.length > 0 && kind !== 'tokens') {
    throw refuse('logprobs are not supported with this model.', { param: 'include', code: 'unsupported_value' });
  }
  return list.length > 0;
}

function readFlag(form: AudioForm, name: string): boolean {
  const text = textOf(form, name)?.toLowerCase() ?? 'false';
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0' || text === '') return false;
  throw refuse(`Invalid type for '${name}': expected a boolean, but got '${text}' instead.`, { param: name, code: 'invalid_type' });
}

function textOf({ texts }: AudioForm, name: string): string | undefined {
  return texts.get(name)?.at(-1);
}

/** A list; its field name may have brackets in the form. */
function listOf({ texts }: AudioForm, name: string): readonly string[] {
  return [...(texts.get(`${name}[]`) ?? []), ...(texts.get(name) ?? [])];
}
