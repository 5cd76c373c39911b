import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import { invalidField, missingField, unknownField, unsupportedValue } from './audio-errors.ts';
import { type SpeechFormat, speechFormats } from './audio-formats.ts';

/** The facts of a speech request that the gateway uses. */
export type SpeechFacts = {
  readonly requestedModel: string;
  /** Code points of the text, which are billed. */
  readonly inputCharacters: number;
  /** Code points of the instructions for the voice. */
  readonly instructionsCharacters: number;
  readonly format: SpeechFormat;
  /** True if the audio is requested as events. */
  readonly streamsEvents: boolean;
  readonly speed: number;
};

const speechInputCharactersMax = 4096;
const voiceCharactersMax = 256;
const speedMin = 0.25;
const speedMax = 4;
const documentedModels = ['tts-1', 'tts-1-hd'];
const documentedVoices = ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'];
const documentedFields = new Set(['model', 'input', 'voice', 'response_format', 'speed']);

/**
 * Checks a speech request and reads its facts. Newer fields of the vendor pass unchecked, unless the documented
 * contract is enforced.
 * @throws GatewayError (400) that names the field
 */
export function readSpeechRequest(body: JsonObject, mode: 'compatible' | 'documented'): SpeechFacts {
  if (mode === 'documented') for (const name of Object.keys(body)) if (!documentedFields.has(name)) throw unknownField(name);
  refuseNulls(body);
  const requestedModel = readText(body, 'model');
  if (mode === 'documented' && !documentedModels.includes(requestedModel))
    throw unsupportedValue('model', requestedModel, documentedModels);
  const input = readText(body, 'input');
  const inputCharacters = countCodePoints(input);
  checkLength('input', inputCharacters);
  checkVoice(body['voice'], mode);
  const instructions = body['instructions'] ?? '';
  if (typeof instructions !== 'string') throw wrongType('instructions', 'a string', instructions);
  const instructionsCharacters = countCodePoints(instructions);
  checkLength('instructions', instructionsCharacters);
  return {
    requestedModel,
    inputCharacters,
    instructionsCharacters,
    format: readOption(body, 'response_format', speechFormats) ?? 'mp3',
    streamsEvents: readOption(body, 'stream_format', ['audio', 'sse']) === 'sse',
    speed: readSpeed(body['speed'] ?? 1),
  };
}

/** Characters as vendors count them: a surrogate pair is one. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const isPair = unit >= 0xd800 && unit <= 0xdbff && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (isPair) at++;
    count++;
  }
  return count;
}

/** Optional fields and their types. Vendors refuse null with messages of their own. */
const optionalFields = {
  response_format: 'the name of a format',
  speed: 'a decimal',
  instructions: 'a string',
  stream_format: "'audio' or 'sse'",
};

function refuseNulls(body: JsonObject): void {
  for (const [name, expected] of Object.entries(optionalFields)) if (body[name] === null) throw wrongType(name, expected, null);
}

function readText(body: JsonObject, name: string): string {
  const value = body[name] ?? undefined;
  if (value === undefined) throw missingField(name);
  if (typeof value !== 'string') throw wrongType(name, 'a string', value);
  if (value !== '') return value;
  throw invalidField(
    name,
    `Invalid '${name}': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
    'empty_string',
  );
}

function checkLength(name: string, characters: number): void {
  if (characters <= speechInputCharactersMax) return;
  throw invalidField(
    name,
    `Invalid '${name}': string too long. Expected a string with maximum length ${speechInputCharactersMax}, but got a string with length ${characters} instead.`,
    'string_above_max_length',
  );
}

/** A name, or the id of a custom voice. Only the upstream knows the names, because models differ. */
function checkVoice(voice: JsonValue | undefined, mode: 'compatible' | 'documented'): void {
  if (voice === undefined || voice === null) throw missingField('voice');
  if (mode === 'documented') {
    if (typeof voice !== 'string') throw wrongType('voice', 'a string', voice);
    if (!documentedVoices.includes(voice)) throw unsupportedValue('voice', voice, documentedVoices);
    return;
  }
  const name = isJsonObject(voice) ? voice['id'] : voice;
  if (typeof name !== 'string') throw wrongType('voice', 'a string or an object with an id', voice);
  if (name === '' || name.length > voiceCharactersMax)
    throw invalidField('voice', `Invalid 'voice': expected a name of 1 to ${voiceCharactersMax} characters.`);
}

function readOption<Option extends string>(body: JsonObject, name: string, options: readonly Option[]): Option | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw wrongType(name, 'a string', value);
  const option = options.find((candidate) => candidate === value);
  if (option === undefined) throw unsupportedValue(name, value, options);
  return option;
}

function readSpeed(speed: JsonValue): number {
  if (typeof speed !== 'number') throw wrongType('speed', 'a decimal', speed);
  if (speed >= speedMin && speed <= speedMax) return speed;
  const isBelow = speed < speedMin;
  const bound = isBelow ? `>= ${speedMin}` : `<= ${speedMax}`;
  throw invalidField(
    'speed',
    `Invalid 'speed': decimal ${isBelow ? 'below minimum' : 'above maximum'} value. Expected a value ${bound}, but got ${speed} instead.`,
    isBelow ? 'decimal_below_min_value' : 'decimal_above_max_value',
  );
}

function wrongType(name: string, expected: string, value: JsonValue) {
  const type = value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
  return invalidField(
    name,
    `Invalid type for '${name}': expected ${expected}, but got ${type} instead.${value === null ? '  Omit it for its default.' : ''}`,
    'invalid_type',
  );
}
