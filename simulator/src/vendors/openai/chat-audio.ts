import type { AudioFormat } from '../../media/audio-encode.ts';
import { renderSpeech } from '../../media/audio-render.ts';
import { hearForeignRecording } from '../../media/read-in-thread.ts';
import { asText, isRecord, recordsOf } from '../../read-json.ts';
import type { Json, JsonRecord, MediaCall, SimulatedReply, SimulatedRequest } from '../../simulated-vendor.ts';
import { audioErrorFrame } from './audio-errors.ts';
import { openaiFlavor } from './chat-flavor.ts';
import { handleChat } from './chat.ts';
import { checkChat } from './check-chat.ts';
import { refuse } from './responses-error.ts';

const formats: Readonly<Record<string, AudioFormat>> = { wav: 'wav', mp3: 'mp3', flac: 'flac', opus: 'opus', aac: 'aac', pcm16: 'pcm' };
const keptSeconds = 3_600;
/** Base64 characters of audio in one chunk of a stream. */
const chunkCharacters = 16_384;

type Voice = { readonly name: string; readonly format: AudioFormat };

/**
 * A chat completion with audio input or output: recordings in it count as the words that they carry, and the reply is
 * spoken if audio is requested. The words are counted like text, and the details of the usage list them as audio.
 */
export async function answerAudioChat(request: SimulatedRequest, call: MediaCall): Promise<SimulatedReply> {
  checkChat(request, openaiFlavor);
  const body = request.body ?? {};
  const voice = readVoice(body);
  const messages = await Promise.all(recordsOf(body['messages']).map(hearMessage));
  const heard: SimulatedRequest = { ...request, body: { ...body, messages } };
  const reply = handleChat(heard, call.planReply, openaiFlavor, audioErrorFrame);
  if (reply === undefined) throw refuse('There is no such route.', { status: 404 });
  const text = reply.plan?.text ?? '';
  // A reply with tool calls or a refusal is not spoken.
  if (voice === undefined || text === '') return reply;
  const { bytes } = await renderSpeech({ text, voice: voice.name, speed: 1, format: voice.format, isStreamed: false });
  const data = bytes.toString('base64');
  return reply.type === 'whole' ? speakWhole(reply, data) : speakStream(reply, data);
}

/** The requested audio; undefined for a text reply. Throws VendorError for an invalid request. */
function readVoice(body: JsonRecord): Voice | undefined {
  if (!Array.isArray(body['modalities']) || !body['modalities'].includes('audio')) return undefined;
  const { audio } = body;
  if (!isRecord(audio)) throw refuse("Missing required parameter: 'audio'.", { param: 'audio', code: 'missing_required_parameter' });
  const format = formats[asText(audio['format'])];
  if (format === undefined) {
    const known = Object.keys(formats).map((name) => `'${name}'`);
    const message = `Invalid value: '${asText(audio['format'])}'. Supported values are: ${known.join(', ')}.`;
    throw refuse(message, { param: 'audio.format', code: 'invalid_value' });
  }
  if (body['stream'] === true && format !== 'pcm') {
    const message = `Unsupported value: 'audio.format' does not support '${asText(audio['format'])}' when stream=true. Supported values are: 'pcm16'.`;
    throw refuse(message, { param: 'audio.format', code: 'unsupported_value' });
  }
  return { name: isRecord(audio['voice']) ? asText(audio['voice']['id']) : asText(audio['voice']), format };
}

/** A message with its recordings replaced by their words. */
async function hearMessage(message: JsonRecord): Promise<JsonRecord> {
  if (!Array.isArray(message['content'])) return message;
  const content = await Promise.all(message['content'].map(hearPart));
  return { ...message, content };
}

async function hearPart(part: Json): Promise<Json> {
  if (!isRecord(part) || !isRecord(part['input_audio'])) return part;
  const { data, format } = part['input_audio'];
  const heard = await hearForeignRecording(Buffer.from(asText(data), 'base64'));
  if (heard !== undefined) return { type: 'text', text: heard.text };
  throw refuse(`The data provided for 'input_audio' is not of valid ${asText(format)} format.`, {
    param: 'messages',
    code: 'invalid_value',
  });
}

function speakWhole(reply: Extract<SimulatedReply, { type: 'whole' }>, data: string): SimulatedReply {
  const body = JSON.parse(reply.body) as JsonRecord;
  for (const choice of recordsOf(body['choices'])) {
    const { message } = choice;
    if (!isRecord(message)) continue;
    const audio = { id: audioIdOf(body), expires_at: Number(body['created']) + keptSeconds, data, transcript: message['content'] ?? '' };
    choice['message'] = { ...message, content: null, audio };
  }
  markUsage(body);
  return { ...reply, body: JSON.stringify(body) };
}

/** The words become a transcript, the audio follows them, and the time until which the vendor stores it comes last. */
function speakStream(reply: Extract<SimulatedReply, { type: 'stream' }>, data: string): SimulatedReply {
  const frames: string[] = [];
  const frameTokens: number[] = [];
  const add = (body: JsonRecord, tokens: number): void => {
    frames.push(`data: ${JSON.stringify(body)}\n\n`);
    frameTokens.push(tokens);
  };
  for (const [index, frame] of reply.frames.entries()) {
    const tokens = reply.frameTokens[index] ?? 0;
    const body = frame.startsWith('data: {') ? (JSON.parse(frame.slice('data: '.length)) as JsonRecord) : undefined;
    if (body === undefined) {
      frames.push(frame);
      frameTokens.push(tokens);
      continue;
    }
    const [choice] = recordsOf(body['choices']);
    if (typeof choice?.['finish_reason'] === 'string') addSound(add, body, choice, data);
    if (choice !== undefined && isRecord(choice['delta'])) choice['delta'] = transcribeDelta(choice['delta'], audioIdOf(body));
    markUsage(body);
    add(body, tokens);
  }
  return { ...reply, frames, frameTokens };
}

function addSound(add: (body: JsonRecord, tokens: number) => void, body: JsonRecord, choice: JsonRecord, data: string): void {
  const addAudio = (audio: JsonRecord): void => add({ ...body, choices: [{ ...choice, delta: { audio }, finish_reason: null }] }, 0);
  for (let start = 0; start < data.length; start += chunkCharacters) addAudio({ data: data.slice(start, start + chunkCharacters) });
  addAudio({ expires_at: Number(body['created']) + keptSeconds });
}

function transcribeDelta(delta: JsonRecord, id: string): JsonRecord {
  const { content, ...others } = delta;
  if ('role' in delta) return { ...others, content: null, audio: { id, transcript: '' } };
  return typeof content === 'string' ? { ...others, audio: { transcript: content } } : delta;
}

function audioIdOf(body: JsonRecord): string {
  return asText(body['id']).replace('chatcmpl-', 'audio_');
}

/** All output except reasoning was spoken. */
function markUsage({ usage }: JsonRecord): void {
  if (!isRecord(usage) || !isRecord(usage['completion_tokens_details'])) return;
  const details = usage['completion_tokens_details'];
  details['audio_tokens'] = Number(usage['completion_tokens']) - Number(details['reasoning_tokens'] ?? 0);
}
