import { crc32, deflateSync } from 'node:zlib';

import type { FunctionTool, InferenceRequest, OutputFormat, Part, TextPart, Turn } from '../../inference/inference-request.ts';
import type { ModelTraits } from '../../inference/model-traits.ts';

/** Output limits of checks: enough for a word, and for a function call or a small object. */
const wordTokens = 16;
const structureTokens = 160;
/** A model that always reasons spends output on it before its first word. */
const thinkingTokens = 2048;

export type OutputAllowance = 'word' | 'structure';

/** The limit of output that a check sets. */
export function outputLimit(traits: ModelTraits, allowance: OutputAllowance): number {
  const asked = allowance === 'word' ? wordTokens : structureTokens;
  return Math.min(traits.alwaysReasons ? asked + thinkingTokens : asked, traits.outputTokensMax ?? Infinity);
}

const text = (words: string): TextPart => ({ kind: 'text', text: words });

const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });

/** A short request in the neutral form, with the changes of a check. */
export function createRequest(
  { model, traits, allowance }: { readonly model: string; readonly traits: ModelTraits; readonly allowance: OutputAllowance },
  changes: Partial<InferenceRequest>,
): InferenceRequest {
  return {
    model,
    stream: false,
    instructions: [],
    turns: [user(text('Reply with the single word: pong'))],
    tools: [],
    outputTokensMax: outputLimit(traits, allowance),
    sampling: {},
    // Reasoning is disabled if possible, because it costs and no check needs it.
    ...(traits.reasoning === 'none' ? {} : { reasoning: { mode: 'off' } as const }),
    vendorFields: [],
    ...changes,
  };
}

/** A prompt whose answer is longer than the limit. */
export const longQuestion: readonly Turn[] = [user(text('Count from 1 to 200 in words, separated by commas. Do not stop early.'))];

/** Enough words to show in the input count. */
export const systemText: readonly TextPart[] = [
  text(
    'You are the echo of a test. Whatever the user says, you answer in one short line, in English, in lower case, without any markup, without asking anything back, and without a word about these instructions, which are only here to be counted.',
  ),
];

export const weatherTool: FunctionTool = {
  kind: 'function',
  name: 'get_weather',
  description: 'Returns the weather of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Name of the city' } },
    required: ['city'],
    additionalProperties: false,
  },
};

export const weatherQuestion: Turn = user(text('What is the weather in Paris? Use the tool.'));

/** The answer of the tool, for a call with this id. */
export const weatherResult = (callId: string): Turn =>
  user({
    kind: 'tool-result',
    callId,
    name: weatherTool.name,
    content: [text('{"temperature_c": 21, "sky": "clear"}')],
    isError: false,
  });

export const colourFormat: OutputFormat = {
  kind: 'json-schema',
  name: 'colour',
  schema: {
    type: 'object',
    properties: { colour: { type: 'string', enum: ['red', 'green', 'blue'] }, wavelength_nm: { type: 'integer' } },
    required: ['colour', 'wavelength_nm'],
    additionalProperties: false,
  },
  strict: true,
};

export const colourQuestion: Turn = user(text('Name one colour of light and its wavelength, as JSON.'));

/** Finds the problem of an answer that should match `colourFormat`; undefined if it matches. */
export function findColourProblem(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return 'it is not a JSON object';
  const { colour, wavelength_nm: wavelength, ...rest } = answer as Readonly<Record<string, unknown>>;
  if (typeof colour !== 'string' || !['red', 'green', 'blue'].includes(colour))
    return '"colour" is none of the three that the schema allows';
  if (!Number.isInteger(wavelength)) return '"wavelength_nm" is no integer';
  const [extra] = Object.keys(rest);
  return extra === undefined ? undefined : 'it has members that the schema does not allow';
}

/** Characters of one to four bytes, which a stream that is cut inside a character would break. */
export const manyScripts: Turn = user(
  text(`Say these words back, nothing else: Grüße, 你好世界, Привет, こんにちは, مرحبا, 👩‍👩‍👧‍👦 🌍. ${'“naïve façade — ½ ☕” '.repeat(40)}`),
);

function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** A red square of 64 by 64 pixels; vendors refuse much smaller images. */
function createPng(): Buffer {
  const side = 64;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // Eight bits per colour, three colours, and the only defined compression, filter and order.
  header.set([8, 2, 0, 0, 0], 8);
  const line = Buffer.concat([Buffer.from([0]), Buffer.alloc(side * 3, Buffer.from([220, 20, 30]))]);
  const points = Buffer.concat(Array.from({ length: side }, () => line));
  return Buffer.concat([
    Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(points)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A prompt with an image. */
export const imageQuestion = (): Turn =>
  user(
    { kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: createPng().toString('base64') } },
    text('Which colour is this? One word.'),
  );
