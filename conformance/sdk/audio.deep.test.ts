import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { createOpenAI } from '@ai-sdk/openai';
import { experimental_generateSpeech as generateSpeech, experimental_transcribe as transcribe } from 'ai';
import OpenAI, { toFile } from 'openai';

import { eventually, post } from '../support/http.ts';
import { startSimulatedWeir, type SimulatedWeir } from '../support/start-simulated-weir.ts';

const input = 'The kettle is on the stove. 👋';
const models = Object.fromEntries(['tts-1', 'whisper-1'].map((model) => [model, { targets: [{ upstream: 'openai', model }] }]));

/** The openai SDK's audio and the AI SDK's speech and transcription, and the costs of both. */
describe('SDKs with speech and transcription', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  let provider: ReturnType<typeof createOpenAI>;
  /** Characters of speech and whole seconds of transcription. */
  const seen = { spoken: 0, characters: 0, heard: 0, seconds: 0 };
  const spoke = (): void => {
    seen.spoken += 1;
    seen.characters += Array.from(input).length;
  };
  const heard = (seconds: number): void => {
    seen.heard += 1;
    seen.seconds += Math.ceil(seconds - 0.001);
  };

  before(async () => {
    running = await startSimulatedWeir({ models });
    const { gatewayUrl, apiKey } = running.weir;
    client = new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey, maxRetries: 0 });
    provider = createOpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey });
  });
  after(() => running[Symbol.asyncDispose]());

  test('openai: speech, its transcript with times, and its translation work', async () => {
    const sound = await client.audio.speech.create({ model: 'tts-1', voice: 'nova', input, response_format: 'wav' });
    const bytes = Buffer.from(await sound.arrayBuffer());
    assert.equal(bytes.toString('latin1', 0, 4), 'RIFF');
    spoke();
    const file = await toFile(bytes, 'kettle.wav');
    const verbose = await client.audio.transcriptions.create({ model: 'whisper-1', file, response_format: 'verbose_json' });
    assert.ok(verbose.duration > 1 && (verbose.segments?.length ?? 0) > 0);
    heard(verbose.duration);
    const translated = await client.audio.translations.create({ model: 'whisper-1', file: await toFile(bytes, 'kettle.wav') });
    assert.match(translated.text, /translation/);
    heard(verbose.duration);
  });

  test('ai: experimental_generateSpeech and experimental_transcribe work in both directions', async () => {
    const { audio, warnings } = await generateSpeech({
      model: provider.speech('tts-1'),
      text: input,
      voice: 'nova',
      outputFormat: 'mp3',
      maxRetries: 0,
    });
    assert.deepEqual([audio.mediaType, audio.format, warnings], ['audio/mpeg', 'mp3', []]);
    spoke();
    const told = await transcribe({
      model: provider.transcription('whisper-1'),
      audio: audio.uint8Array,
      maxRetries: 0,
      providerOptions: { openai: { timestampGranularities: ['segment'] } },
    });
    assert.match(told.text, /The kettle is on the stove\./);
    assert.ok(told.segments.length > 0 && told.durationInSeconds !== undefined);
    assert.equal(told.language, 'en');
    heard(told.durationInSeconds);
  });

  test("the books match the SDKs' characters and seconds", async () => {
    const { monitorUrl, billingToken } = running.weir;
    const nowSeconds = Math.floor(Date.now() / 1000);
    const question = { type: 3, startTime: nowSeconds - 3600, endTime: nowSeconds + 3600 };
    const read = async () => {
      const answer = await post(`${monitorUrl}/bill/stats`, question, { token: billingToken });
      const rows: Record<string, readonly number[]> = {};
      for (const { modelName, callCount, totalPromptTokens, totalAmount } of answer.json.data) {
        const [calls = 0, tokens = 0, amount = 0] = rows[modelName] ?? [];
        rows[modelName] = [calls + callCount, tokens + totalPromptTokens, Math.round(amount + totalAmount * 1e9)];
      }
      return rows;
    };
    const { spoken, characters, heard: times, seconds } = seen;
    const books = await eventually(read, (rows) => (rows['tts-1']?.[0] ?? 0) >= spoken && (rows['whisper-1']?.[0] ?? 0) >= times);
    // $15 per million characters, $0.006 per minute of input.
    assert.deepEqual(books, { 'tts-1': [spoken, characters, characters * 15_000], 'whisper-1': [times, 0, seconds * 100_000] });
  });
});
