import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { encodeAudio } from '../../media/audio-encode.ts';
import { finish } from '../../media/audio-pcm.ts';
import { playTones } from '../../media/audio-tones.ts';
import { startSimulator, type RunningSimulator } from '../../start-simulator.ts';
import { assertValid, membersOf, readSpec, skipWithoutSpecs as skip } from '../../vendor-specs.ts';

let simulator: RunningSimulator;
let recording: Blob;
before(async () => {
  simulator = await startSimulator();
  recording = new Blob([new Uint8Array(await encodeAudio(finish(playTones('One two. Three four.', 262, 1)), 'wav', ''))]);
});
after(() => simulator.close());

async function send(path: string, fields: Readonly<Record<string, string>>): Promise<string> {
  const form = new FormData();
  form.append('file', recording, 'a.wav');
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const response = await fetch(`${simulator.addresses.openai}${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer key' },
    body: form,
  });
  const body = await response.text();
  assert.equal(response.status, 200, body);
  return body;
}

const transcriptions = '/audio/transcriptions';

const replies = [
  ['CreateTranscriptionResponseJson', transcriptions, { model: 'whisper-1' }],
  ['CreateTranscriptionResponseJson', transcriptions, { model: 'gpt-4o-transcribe', 'include[]': 'logprobs' }],
  ['CreateTranscriptionResponseVerboseJson', transcriptions, { model: 'whisper-1', response_format: 'verbose_json' }],
  [
    'CreateTranscriptionResponseVerboseJson',
    transcriptions,
    { model: 'whisper-1', response_format: 'verbose_json', 'timestamp_granularities[]': 'word' },
  ],
  ['CreateTranscriptionResponseDiarizedJson', transcriptions, { model: 'gpt-4o-transcribe-diarize', response_format: 'diarized_json' }],
  ['CreateTranslationResponseJson', '/audio/translations', { model: 'whisper-1' }],
  ['CreateTranslationResponseVerboseJson', '/audio/translations', { model: 'whisper-1', response_format: 'verbose_json' }],
] as const;

test('spec-conformance: transcriptions and translations match the description', { skip }, async () => {
  for (const [schema, path, fields] of replies) {
    assertValid(readSpec('openai').validator(schema), JSON.parse(await send(path, fields)), `${schema} ${JSON.stringify(fields)}`);
  }
});

function assertEvents(body: string, schema: string): void {
  const events = body.split('\n\n').filter((event) => event !== '');
  assert.ok(events.length > 1);
  for (const event of events) assertValid(readSpec('openai').validator(schema), JSON.parse(event.replace(/^data: /, '')), schema);
}

test('spec-conformance: events of transcriptions and of speech match the description', { skip }, async () => {
  for (const model of ['gpt-4o-transcribe', 'gpt-4o-transcribe-diarize']) {
    assertEvents(await send(transcriptions, { model, stream: 'true' }), 'CreateTranscriptionResponseStreamEvent');
  }
  const response = await fetch(`${simulator.addresses.openai}/audio/speech`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini-tts', input: 'Hello', voice: 'alloy', stream_format: 'sse' }),
  });
  assertEvents(await response.text(), 'CreateSpeechResponseStreamEvent');
});

/** A value of each field that its check accepts together with the others. */
const values: Readonly<Record<string, string>> = {
  model: 'whisper-1',
  response_format: 'verbose_json',
  temperature: '0.5',
  timestamp_granularities: 'word',
  language: 'en',
  stream: 'false',
  chunking_strategy: 'auto',
};

test('parameter-unknown-to-us: every field of a transcription and a translation is known', { skip }, async () => {
  const { schemas } = readSpec('openai');
  for (const [schema, path] of [
    ['CreateTranscriptionRequest', transcriptions],
    ['CreateTranslationRequest', '/audio/translations'],
  ] as const) {
    const names = Object.keys(membersOf(schemas[schema], schemas)).filter((name) => name !== 'file' && name !== 'include');
    assert.ok(names.length > 3);
    await send(path, Object.fromEntries(names.map((name) => [name, values[name] ?? 'x'])));
  }
});
