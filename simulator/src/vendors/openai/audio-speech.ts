import { countTokens } from '../../count-tokens.ts';
import { audioFormats, type AudioFormat } from '../../media/audio-encode.ts';
import { renderSpeech, type RenderedSpeech } from '../../media/audio-render.ts';
import { countCodePoints } from '../../media/audio-timing.ts';
import type { Json, JsonRecord, MediaCall, MediaReply, SimulatedRequest } from '../../simulated-vendor.ts';
import { audioErrorFrame, refuseField, refuseMissingModel } from './audio-errors.ts';
import { refuse } from './responses-error.ts';

type SpeechRequest = {
  readonly model: string;
  readonly input: string;
  readonly voice: string;
  readonly format: AudioFormat;
  readonly speed: number;
  readonly instructions: string;
  readonly isEvents: boolean;
};

const charactersMax = 4096;
const oldVoices = ['nova', 'shimmer', 'echo', 'onyx', 'fable', 'alloy', 'ash', 'sage', 'coral'];
const newVoices = [...oldVoices, 'ballad', 'verse', 'marin', 'cedar'];
const members = ['model', 'input', 'voice', 'response_format', 'speed', 'instructions', 'stream_format'];

const contentTypes: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

/** Bytes of audio in one frame of the reply. */
const frameBytes = 8_192;
const tokensPerSecond = 20;

/** POST /v1/audio/speech: audio in chunks, or events of it if the model supports them. */
export async function answerSpeech(request: SimulatedRequest, call: MediaCall): Promise<MediaReply> {
  const speech = checkSpeech(request);
  call.steer(speech.input);
  const { input: text, voice, speed, format } = speech;
  const isByTokens = !isOldModel(speech.model);
  // The newer models begin to send before they know how long the speech is.
  const rendered = await renderSpeech({ text, voice, speed, format, isStreamed: isByTokens });
  const outputTokens = Math.ceil((rendered.durationMs / 1000) * tokensPerSecond);
  const inputTokens = countTokens(speech.input) + countTokens(speech.instructions);
  const media = {
    inputCharacters: countCodePoints(speech.input),
    outputAudioMs: Math.round(rendered.durationMs),
    ...(isByTokens && { inputTokens, outputTokens }),
  };
  const chunks = cutBytes(rendered.bytes);
  const frameTokens = spread(outputTokens, chunks.length);
  const made = { 'x-simulated-speech': rendered.synthesizer };
  if (speech.isEvents) {
    const usage = { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
    return {
      type: 'media',
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8', ...made },
      frames: writeEvents(chunks, usage),
      frameTokens: [...frameTokens, 0],
      errorFrame: audioErrorFrame,
      media,
    };
  }
  return {
    type: 'media',
    status: 200,
    headers: { 'content-type': contentTypes[speech.format], ...made },
    frames: chunks,
    frameTokens,
    media,
  };
}

function writeEvents(chunks: readonly Uint8Array[], usage: JsonRecord): string[] {
  const deltas = chunks.map((chunk) => ({ type: 'speech.audio.delta', audio: Buffer.from(chunk).toString('base64') }));
  return [...deltas, { type: 'speech.audio.done', usage }].map((event) => `data: ${JSON.stringify(event)}\n\n`);
}

function cutBytes(bytes: RenderedSpeech['bytes']): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += frameBytes) chunks.push(bytes.subarray(start, start + frameBytes));
  return chunks;
}

/** Distributes tokens over frames, at least one for each, so that a fault can count them. */
function spread(tokens: number, frames: number): number[] {
  return Array.from({ length: frames }, (_, index) =>
    Math.max(1, Math.floor(((index + 1) * tokens) / frames) - Math.floor((index * tokens) / frames)),
  );
}

function isOldModel(model: string): boolean {
  return model.startsWith('tts-1');
}

function checkSpeech(request: SimulatedRequest): SpeechRequest {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw refuse(`Unsupported content type: '${type}'. This API method only accepts 'application/json' requests.`, { status: 415 });
  }
  const { body } = request;
  if (body === undefined) throw refuse('We could not parse the JSON body of your request: it must be one JSON object.');
  const unknown = Object.keys(body).find((member) => !members.includes(member));
  if (unknown !== undefined) throw refuseField(unknown, 'extra_forbidden', 'Extra inputs are not permitted', body[unknown]);
  const { model } = body;
  if (typeof model !== 'string' || model === '') throw refuse('you must provide a model parameter');
  if (model.startsWith('missing-')) throw refuseMissingModel(model);
  return { model, input: readInput(body), voice: readVoice(body, model), ...readOptions(body, model) };
}

function readInput(body: JsonRecord): string {
  const { input } = body;
  if (typeof input !== 'string') {
    throw input === undefined
      ? refuseField('input', 'missing', 'Field required', input)
      : refuseField('input', 'string_type', 'Input should be a valid string', input);
  }
  if (input === '') throw refuseField('input', 'string_too_short', 'String should have at least 1 character', input);
  if (countCodePoints(input) > charactersMax) {
    throw refuseField('input', 'string_too_long', `String should have at most ${charactersMax} characters`, input.slice(0, 80));
  }
  return input;
}

function readVoice(body: JsonRecord, model: string): string {
  const { voice } = body;
  if (voice === undefined) throw refuseField('voice', 'missing', 'Field required', voice);
  const custom = typeof voice === 'object' && voice !== null && !Array.isArray(voice) ? voice['id'] : undefined;
  if (typeof custom === 'string' && !isOldModel(model)) return custom;
  const known = isOldModel(model) ? oldVoices : newVoices;
  if (typeof voice !== 'string' || !known.includes(voice)) {
    const list = known.map((name) => `'${name}'`);
    throw refuseField('voice', 'enum', `Input should be ${list.slice(0, -1).join(', ')} or ${list.at(-1) ?? ''}`, voice);
  }
  return voice;
}

function readOptions(body: JsonRecord, model: string): Pick<SpeechRequest, 'format' | 'speed' | 'instructions' | 'isEvents'> {
  const { response_format: formatName = 'mp3', speed = 1, instructions = '', stream_format: streamFormat = 'audio' } = body;
  const format = audioFormats.find((name) => name === formatName);
  if (format === undefined) {
    throw refuseField('response_format', 'enum', "Input should be 'mp3', 'opus', 'aac', 'flac', 'wav' or 'pcm'", formatName);
  }
  if (typeof speed !== 'number') throw refuseField('speed', 'float_parsing', 'Input should be a valid number', speed);
  if (speed < 0.25) throw refuseField('speed', 'greater_than_equal', 'Input should be greater than or equal to 0.25', speed);
  if (speed > 4) throw refuseField('speed', 'less_than_equal', 'Input should be less than or equal to 4', speed);
  if (typeof instructions !== 'string') throw refuseField('instructions', 'string_type', 'Input should be a valid string', instructions);
  if (countCodePoints(instructions) > charactersMax) {
    throw refuseField(
      'instructions',
      'string_too_long',
      `String should have at most ${charactersMax} characters`,
      instructions.slice(0, 80),
    );
  }
  if (streamFormat !== 'audio' && streamFormat !== 'sse')
    throw refuseField('stream_format', 'enum', "Input should be 'sse' or 'audio'", streamFormat);
  if (isOldModel(model)) refuseNewMembers(model, instructions, streamFormat);
  return { format, speed, instructions, isEvents: streamFormat === 'sse' };
}

function refuseNewMembers(model: string, instructions: string, streamFormat: Json): void {
  const code = 'unsupported_value';
  if (instructions !== '') throw refuse(`'instructions' is not supported with model '${model}'.`, { param: 'instructions', code });
  if (streamFormat === 'sse') throw refuse(`stream_format 'sse' is not supported with model '${model}'.`, { param: 'stream_format', code });
}
