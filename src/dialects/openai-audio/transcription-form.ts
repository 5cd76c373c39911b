import { parseIfJson } from '../../platform/json/parse-if-json.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import { invalidField, missingField, unknownField, unsupportedWord } from './audio-errors.ts';
import { documentedTranscriptFormats, type TranscriptFormat, transcriptFormats } from './audio-formats.ts';

/** A field of a form, as it came. Several may have one name. */
export type FormField = { readonly name: string; readonly value: string };

export type Granularity = 'word' | 'segment';

/** What the gateway needs to know of a request to write speech down. */
export type TranscriptionFacts = {
  readonly task: 'transcribe' | 'translate';
  readonly requestedModel: string;
  readonly format: TranscriptFormat;
  /** What times are wanted for, where the client said so. */
  readonly granularities: readonly Granularity[] | undefined;
  readonly stream: boolean;
  readonly hasPrompt: boolean;
  readonly promptCharacters: number;
  readonly includesLogprobs: boolean;
};

/** Fields that may be given several times, with or without the brackets that SDKs write behind their names. */
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

/** The name of a field without what SDKs write behind it: `timestamp_granularities[]`, `[0]`. */
export function plainFieldName(name: string): string {
  return name.replace(/\[\d{0,3}\]$/, '');
}

/**
 * Checks the fields of a form and reads what they say. Fields that are not known pass, unless the documented interface is to be kept to the letter.
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
  if (mode === 'documented' && !documentedModels.includes(requestedModel)) throw unsupportedWord('model', requestedModel, documentedModels);
  refuseNulls(single);
  const formats: readonly TranscriptFormat[] =
    mode === 'documented' || task === 'translate' ? documentedTranscriptFormats : transcriptFormats;
  const format = readWord('response_format', single('response_format') || 'json', formats);
  checkTemperature(single('temperature'));
  checkLanguage(single('language'), mode);
  checkChunking(single('chunking_strategy'));
  for (const name of ['known_speaker_names', 'known_speaker_references'])
    if ((form.get(name)?.length ?? 0) > speakersMax) throw invalidField(name, `Invalid '${name}': at most ${speakersMax} speakers.`);
  const prompt = single('prompt') ?? '';
  const wanted = readGranularities(form.get('timestamp_granularities'));
  if (wanted !== undefined && mode === 'documented' && format !== 'verbose_json')
    throw invalidField('timestamp_granularities', "timestamp_granularities can only be used with response_format 'verbose_json'.");
  return {
    task,
    requestedModel,
    format,
    granularities: wanted,
    stream: task === 'transcribe' && readFlag('stream', single('stream')),
    hasPrompt: prompt !== '',
    promptCharacters: prompt.length,
    includesLogprobs: form.get('include')?.some((value) => value.includes('logprobs')) ?? false,
  };
}

/** Fields that are never the word itself, and what they are instead. */
const neverNull = {
  response_format: 'the name of a format',
  temperature: 'a decimal',
  language: 'a language in ISO-639-1',
  chunking_strategy: "'auto' or a JSON object",
};

/** Forms know texts only: programs that write down what is absent write `null`, which a vendor refuses in words of its own or takes for a name. */
function refuseNulls(single: (name: string) => string | undefined): void {
  for (const [name, expected] of Object.entries(neverNull)) {
    if (single(name)?.trim() !== 'null') continue;
    throw invalidField(
      name,
      `Invalid type for '${name}': expected ${expected}, but got null instead. Leave it out for its default.`,
      'invalid_type',
    );
  }
}

/** The values of each field by its plain name. A second value where one is taken would be read by one server and not by another. */
function readFields(fields: readonly FormField[], known: ReadonlySet<string> | undefined): ReadonlyMap<string, readonly string[]> {
  const form = new Map<string, string[]>();
  for (const { name, value } of fields) {
    const plain = plainFieldName(name);
    if (known !== undefined && !known.has(plain)) throw unknownField(name);
    const values = form.get(plain);
    if (values === undefined) form.set(plain, [value]);
    else if (!listFields.has(plain) && singleFields.has(plain))
      throw invalidField(plain, `Duplicate parameter: '${plain}' was given more than once.`, 'duplicate_parameter');
    else values.push(value);
  }
  return form;
}

const singleFields = new Set(['model', 'language', 'prompt', 'response_format', 'temperature', 'stream', 'chunking_strategy']);

function readWord<Word extends string>(name: string, value: string, words: readonly Word[]): Word {
  const known = words.find((word) => word === value);
  if (known === undefined) throw unsupportedWord(name, value, words);
  return known;
}

/** Fields of forms are texts: `0.2` is what SDKs send for a number. */
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

/** Some servers also take names and region tags; only the documented interface is strict. */
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
  const word = (value ?? '').trim().toLowerCase();
  if (['', 'false', '0', 'null', 'no', 'off'].includes(word)) return false;
  if (['true', '1', 'yes', 'on'].includes(word)) return true;
  throw invalidField(name, `Invalid type for '${name}': expected a boolean, but got a string instead.`, 'invalid_type');
}

/** A value each, a list in JSON, or several behind commas: all of these are sent. In the order in which they came, each once. */
function readGranularities(values: readonly string[] | undefined): readonly Granularity[] | undefined {
  if (values === undefined) return undefined;
  const words = values.flatMap(splitList).filter((word) => word !== '');
  if (words.length === 0) return undefined;
  return [...new Set(words.map((word) => readWord('timestamp_granularities', word, granularities)))];
}

function splitList(value: string): readonly string[] {
  if (!/^\s*\[/.test(value)) return value.split(',').map((word) => word.trim().replaceAll(/^"|"$/g, ''));
  const parsed = parseIfJson(value);
  if (Array.isArray(parsed) && parsed.every((word) => typeof word === 'string')) return parsed;
  throw invalidField('timestamp_granularities', "Invalid 'timestamp_granularities': expected 'word', 'segment', or an array of them.");
}
