import { parseIfJson } from '../../platform/json/parse-if-json.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import { invalidField, missingField, unknownField, unsupportedValue } from './audio-errors.ts';
import { documentedTranscriptFormats, type TranscriptFormat, transcriptFormats } from './audio-formats.ts';

/** A field of a form, as received. Several may have one name. */
export type FormField = { readonly name: string; readonly value: string };

export type Granularity = 'word' | 'segment';

/** The facts of a transcription request that the gateway uses. */
export type TranscriptionFacts = {
  readonly task: 'transcribe' | 'translate';
  readonly requestedModel: string;
  readonly format: TranscriptFormat;
  /** The units for which timestamps are requested, if the client names any. */
  readonly granularities: readonly Granularity[] | undefined;
  readonly stream: boolean;
  readonly hasPrompt: boolean;
  readonly promptCharacters: number;
  readonly includesLogprobs: boolean;
};

/** Fields that may be repeated. SDKs may write brackets behind their names. */
const listFields = new Set([
  'timestamp_granularities',
  'include',
  'languages',
  'keywords',
  'known_speaker_names',
  'known_speaker_references',
]);
const documentedModels = ['whisper-1'];
const documentedFields = {
  transcribe: new Set(['model', 'language', 'prompt', 'response_format', 'temperature', 'timestamp_granularities']),
  translate: new Set(['model', 'prompt', 'response_format', 'temperature']),
};
const granularities = ['word', 'segment'] as const;
const speakersMax = 4;

/** The name of a field without the suffixes of SDKs: `timestamp_granularities[]`, `[0]`. */
export function plainFieldName(name: string): string {
  return name.replace(/\[\d{0,3}\]$/, '');
}

/**
 * Checks and reads the fields of a form. Unknown fields pass, unless the documented contract is enforced.
 * @throws GatewayError (400) that names the field
 */
export function readTranscriptionForm(
  fields: readonly FormField[],
  task: TranscriptionFacts['task'],
  mode: 'compatible' | 'documented',
): TranscriptionFacts {
  const form = readFields(fields, mode === 'documented' ? documentedFields[task] : undefined);
  const single = (name: string): string | undefined => form.get(name)?.[0];
  const requestedModel = single('model');
  if (requestedModel === undefined || requestedModel === '') throw missingField('model');
  if (mode === 'documented' && !documentedModels.includes(requestedModel))
    throw unsupportedValue('model', requestedModel, documentedModels);
  refuseNulls(single);
  const formats: readonly TranscriptFormat[] =
    mode === 'documented' || task === 'translate' ? documentedTranscriptFormats : transcriptFormats;
  const format = readOption('response_format', single('response_format') || 'json', formats);
  checkTemperature(single('temperature'));
  checkLanguage(single('language'), mode);
  checkChunking(single('chunking_strategy'));
  for (const name of ['known_speaker_names', 'known_speaker_references'])
    if ((form.get(name)?.length ?? 0) > speakersMax) throw invalidField(name, `Invalid '${name}': at most ${speakersMax} speakers.`);
  const prompt = single('prompt') ?? '';
  const requestedTimes = readGranularities(form.get('timestamp_granularities'));
  if (requestedTimes !== undefined && mode === 'documented' && format !== 'verbose_json')
    throw invalidField('timestamp_granularities', "timestamp_granularities can only be used with response_format 'verbose_json'.");
  return {
    task,
    requestedModel,
    format,
    granularities: requestedTimes,
    stream: task === 'transcribe' && readFlag('stream', single('stream')),
    hasPrompt: prompt !== '',
    promptCharacters: prompt.length,
    includesLogprobs: form.get('include')?.some((value) => value.includes('logprobs')) ?? false,
  };
}

/** Fields for which the text `null` is never a value, and their types. */
const neverNull = {
  response_format: 'the name of a format',
  temperature: 'a decimal',
  language: 'a language in ISO-639-1',
  chunking_strategy: "'auto' or a JSON object",
};

/**
 * Forms have only texts. Some programs write `null` for an absent value, which vendors refuse with messages of their
 * own or read as a name.
 */
function refuseNulls(single: (name: string) => string | undefined): void {
  for (const [name, expected] of Object.entries(neverNull)) {
    if (single(name)?.trim() !== 'null') continue;
    throw invalidField(
      name,
      `Invalid type for '${name}': expected ${expected}, but got null instead. Omit it for its default.`,
      'invalid_type',
    );
  }
}

/**
 * The values of each field by its plain name. If a field that accepts one value were repeated, servers would differ in
 * which value they read.
 */
function readFields(fields: readonly FormField[], allowed: ReadonlySet<string> | undefined): ReadonlyMap<string, readonly string[]> {
  const form = new Map<string, string[]>();
  for (const { name, value } of fields) {
    const plain = plainFieldName(name);
    if (allowed !== undefined && !allowed.has(plain)) throw unknownField(name);
    const values = form.get(plain);
    if (values === undefined) form.set(plain, [value]);
    else if (!listFields.has(plain) && singleFields.has(plain))
      throw invalidField(plain, `Duplicate parameter: '${plain}' was sent more than once.`, 'duplicate_parameter');
    else values.push(value);
  }
  return form;
}

const singleFields = new Set(['model', 'language', 'prompt', 'response_format', 'temperature', 'stream', 'chunking_strategy']);

function readOption<Option extends string>(name: string, value: string, options: readonly Option[]): Option {
  const option = options.find((candidate) => candidate === value);
  if (option === undefined) throw unsupportedValue(name, value, options);
  return option;
}

/** Form fields are texts: SDKs send a number as `0.2`. */
function checkTemperature(value: string | undefined): void {
  if (value === undefined || value === '') return;
  const temperature = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : NaN;
  if (Number.isNaN(temperature))
    throw invalidField('temperature', "Invalid type for 'temperature': expected a decimal, but got a string instead.", 'invalid_type');
  if (temperature >= 0 && temperature <= 1) return;
  const isBelow = temperature < 0;
  throw invalidField(
    'temperature',
    `Invalid 'temperature': decimal ${isBelow ? 'below minimum' : 'above maximum'} value. Expected a value ${isBelow ? '>= 0' : '<= 1'}, but got ${value.trim().slice(0, 40)} instead.`,
    isBelow ? 'decimal_below_min_value' : 'decimal_above_max_value',
  );
}

const languageCharactersMax = 64;

/** Some servers also accept names and region tags. Only the documented contract is strict. */
function checkLanguage(value: string | undefined, mode: 'compatible' | 'documented'): void {
  if (value === undefined || value === '') return;
  const isRight = mode === 'documented' ? /^[a-z]{2}$/i.test(value) : value.length <= languageCharactersMax;
  if (!isRight)
    throw invalidField('language', `Invalid language '${value.slice(0, 40)}'. Language parameter must be specified in ISO-639-1 format.`);
}

function checkChunking(value: string | undefined): void {
  if (value === undefined || value === '' || value === 'auto') return;
  const parsed = parseIfJson(value);
  if (isJsonObject(parsed) || parsed === 'auto') return;
  throw invalidField('chunking_strategy', "Invalid 'chunking_strategy': expected 'auto' or a JSON object.");
}

function readFlag(name: string, value: string | undefined): boolean {
  const text = (value ?? '').trim().toLowerCase();
  if (['', 'false', '0', 'null', 'no', 'off'].includes(text)) return false;
  if (['true', '1', 'yes', 'on'].includes(text)) return true;
  throw invalidField(name, `Invalid type for '${name}': expected a boolean, but got a string instead.`, 'invalid_type');
}

/**
 * One value, a JSON list, or values separated by commas, as clients send them. The order is kept and duplicates are
 * removed.
 */
function readGranularities(values: readonly string[] | undefined): readonly Granularity[] | undefined {
  if (values === undefined) return undefined;
  const words = values.flatMap(splitList).filter((word) => word !== '');
  if (words.length === 0) return undefined;
  return [...new Set(words.map((word) => readOption('timestamp_granularities', word, granularities)))];
}

function splitList(value: string): readonly string[] {
  if (!/^\s*\[/.test(value)) return value.split(',').map((word) => word.trim().replaceAll(/^"|"$/g, ''));
  const parsed = parseIfJson(value);
  if (Array.isArray(parsed) && parsed.every((word) => typeof word === 'string')) return parsed;
  throw invalidField('timestamp_granularities', "Invalid 'timestamp_granularities': expected 'word', 'segment', or an array of them.");
}
