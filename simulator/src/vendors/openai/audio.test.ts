import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { codeOfLanguage, nameOfLanguage } from '../../media/audio-language.ts';
import { encodeAudio } from '../../media/audio-encode.ts';
import { asText, isRecord, recordsOf } from '../../read-json.ts';
import type { Json, JsonRecord } from '../../simulated-vendor.ts';
import { startSimulator, type RunningSimulator } from '../../start-simulator.ts';

const text = 'The beach was a popular spot. People were swimming, and --> größer all the time!';
const authorization = 'Bearer key';

let simulator: RunningSimulator;
before(async () => {
  simulator = await startSimulator();
});
after(() => simulator.close());

const origin = (): string => new URL(simulator.addresses.openai).origin;

async function speak(body: JsonRecord, headers: Record<string, string> = {}): Promise<Response> {
  return await fetch(`${origin()}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'tts-1', voice: 'nova', input: text, ...body }),
  });
}

type Fields = Record<string, string | readonly string[]>;

async function hear(
  path: string,
  file: Uint8Array<ArrayBuffer> | undefined,
  name: string,
  fields: Fields,
  headers = {},
): Promise<Response> {
  const form = new FormData();
  if (file !== undefined) form.append('file', new Blob([file]), name);
  for (const [field, value] of Object.entries(fields)) {
    for (const one of typeof value === 'string' ? [value] : value) form.append(field, one);
  }
  return await fetch(`${origin()}${path}`, { method: 'POST', headers: { authorization, ...headers }, body: form });
}

const transcribe = (file: Uint8Array<ArrayBuffer> | undefined, fields: Fields, headers = {}): Promise<Response> =>
  hear('/v1/audio/transcriptions', file, 'speech.wav', { model: 'whisper-1', ...fields }, headers);

async function record(response: Response): Promise<JsonRecord> {
  const body = (await response.json()) as Json;
  assert.ok(isRecord(body));
  return body;
}

async function wave(): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await speak({ response_format: 'wav' })).arrayBuffer());
}

const types = [
  ['mp3', 'audio/mpeg', 'mp3'],
  ['opus', 'audio/opus', 'ogg'],
  ['aac', 'audio/aac', 'mp4'],
  ['flac', 'audio/flac', 'flac'],
  ['wav', 'audio/wav', 'wav'],
] as const;

for (const [format, type, extension] of types) {
  test(`lost-text: text spoken as ${format} is transcribed word for word`, async () => {
    const response = await speak({ response_format: format });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), type);
    assert.match(response.headers.get('x-simulated-speech') ?? '', /^(?:espeak-ng|tones)$/);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const heard = await hear('/v1/audio/transcriptions', bytes, `a.${extension}`, { model: 'whisper-1' });
    assert.equal((await record(heard))['text'], text);
    const [spoken] = simulator.records().slice(-2);
    assert.equal(spoken?.plannedMedia?.inputCharacters, 80);
  });
}

test('lost-text: every format of a transcription contains the text', async () => {
  const bytes = await wave();
  const shown = text.replace('-->', '->');
  for (const format of ['json', 'text', 'srt', 'vtt', 'verbose_json']) {
    const response = await transcribe(bytes, { response_format: format });
    const isJson = format.includes('json');
    assert.equal(response.headers.get('content-type'), isJson ? 'application/json' : 'text/plain; charset=utf-8');
    const body = await response.text();
    if (format === 'text') assert.equal(body, `${text}\n`);
    if (isJson) assert.equal((JSON.parse(body) as JsonRecord)['text'], text);
    for (const sentence of shown.split(/(?<=\.) /))
      if (format === 'srt' || format === 'vtt') assert.ok(body.includes(`\n${sentence}\n\n`), body);
  }
});

test('wrong-timestamps: words and segments are in the reply if requested', async () => {
  const bytes = await wave();
  const cases = [
    [[], false, true],
    [['segment'], false, true],
    [['word'], true, false],
    [['word', 'segment'], true, true],
  ] as const;
  for (const [granularities, hasWords, hasSegments] of cases) {
    const fields = { response_format: 'verbose_json', 'timestamp_granularities[]': granularities, language: 'de' };
    const body = await record(await transcribe(bytes, fields));
    assert.equal('words' in body, hasWords);
    assert.equal('segments' in body, hasSegments);
    assert.equal(body['language'], 'german');
    assert.deepEqual(body['usage'], { type: 'duration', seconds: Math.ceil(Number(body['duration'])) });
    for (const word of recordsOf(body['words'])) assert.ok(Number(word['end']) <= Number(body['duration']) + 0.01);
  }
});

test('foreign-audio: a recording from elsewhere is not transcribed but measured correctly', async () => {
  const hum = Int16Array.from({ length: 24_000 * 3.2 }, (_, index) => 8_000 * Math.sin(index / 10));
  const bytes = new Uint8Array(await encodeAudio(hum, 'mp3', 'A comment of somebody else'));
  const body = await record(await transcribe(bytes, { response_format: 'verbose_json' }));
  assert.match(asText(body['text']), /^Simulated transcription of 3\.[23] seconds of audio\.$/);
  assert.ok(Math.abs(Number(body['duration']) - 3.2) < 0.1);
});

test('token-models: usage is in tokens, streams add up to the text, and log probabilities cover it', async () => {
  const bytes = await wave();
  const fields = { model: 'gpt-4o-transcribe', prompt: 'On a beach', 'include[]': 'logprobs' };
  const whole = await record(await transcribe(bytes, fields));
  const logprobs = recordsOf(whole['logprobs']);
  assert.equal(logprobs.map((entry) => asText(entry['token'])).join(''), text);
  const stream = await transcribe(bytes, { ...fields, stream: 'true' });
  assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const events = readEvents(await stream.text());
  const deltas = events.filter((event) => event['type'] === 'transcript.text.delta').map((event) => asText(event['delta']));
  assert.equal(deltas.join(''), text);
  assert.equal(events.at(-1)?.['text'], text);
  assert.deepEqual(events.at(-1)?.['usage'], whole['usage']);
  assert.equal(isRecord(whole['usage']) && whole['usage']['type'], 'tokens');
  assert.deepEqual(simulator.records().at(-1)?.reportedUsage, whole['usage']);
});

test('speakers: the diarizing model names the speaker', async () => {
  const bytes = await wave();
  const fields = { model: 'gpt-4o-transcribe-diarize', response_format: 'diarized_json', 'known_speaker_names[]': 'Ada' };
  const body = await record(await transcribe(bytes, fields));
  assert.deepEqual(
    recordsOf(body['segments']).map((segment) => segment['speaker']),
    ['Ada', 'Ada'],
  );
  const events = readEvents(await (await transcribe(bytes, { ...fields, stream: 'true' })).text());
  assert.equal(events.filter((event) => event['type'] === 'transcript.text.segment').length, 2);
});

test('translation: the text says that it is simulated', async () => {
  const bytes = await wave();
  const response = await hear('/v1/audio/translations', bytes, 'a.wav', { model: 'whisper-1', response_format: 'verbose_json' });
  const body = await record(response);
  assert.equal(body['text'], `(simulated English translation) ${text}`);
  assert.equal(body['task'], 'translate');
  assert.equal(body['language'], 'english');
});

test('speech-events: deltas are the audio, the last event is its usage', async () => {
  const order = { model: 'gpt-4o-mini-tts', voice: 'cedar', response_format: 'pcm', instructions: 'Slowly.' };
  const whole = Buffer.from(await (await speak(order)).arrayBuffer());
  const events = readEvents(await (await speak({ ...order, stream_format: 'sse' })).text());
  const audio = events
    .filter((event) => event['type'] === 'speech.audio.delta')
    .map((event) => Buffer.from(asText(event['audio']), 'base64'));
  assert.deepEqual(Buffer.concat(audio), whole);
  const usage = events.at(-1)?.['usage'];
  assert.ok(isRecord(usage));
  assert.equal(Number(usage['input_tokens']) + Number(usage['output_tokens']), usage['total_tokens']);
});

const badSpeech: readonly (readonly [note: string, body: JsonRecord, status: number, param: string | null])[] = [
  ['no input', { input: undefined }, 400, 'input'],
  ['empty input', { input: '' }, 400, 'input'],
  ['long input', { input: '😀'.repeat(4_097) }, 400, 'input'],
  ['unknown voice', { voice: 'boris' }, 400, 'voice'],
  ['a new voice of an old model', { voice: 'cedar' }, 400, 'voice'],
  ['unknown format', { response_format: 'ogg' }, 400, 'response_format'],
  ['too slow', { speed: 0.2 }, 400, 'speed'],
  ['too fast', { speed: 4.1 }, 400, 'speed'],
  ['speed as text', { speed: '1' }, 400, 'speed'],
  ['instructions to an old model', { instructions: 'Sing' }, 400, 'instructions'],
  ['events of an old model', { stream_format: 'sse' }, 400, 'stream_format'],
  ['unknown member', { pitch: 2 }, 400, 'pitch'],
  ['no such model', { model: 'missing-tts' }, 404, null],
];

for (const [note, body, status, param] of badSpeech) {
  test(`wrong-speech-request: ${note} is refused`, async () => {
    await assertRefused(await speak(body), status, param);
  });
}

const badTranscriptions: readonly (readonly [note: string, fields: Fields, status: number, param: string | null])[] = [
  ['unknown format', { response_format: 'xml' }, 400, 'response_format'],
  ['subtitles of a token model', { model: 'gpt-4o-transcribe', response_format: 'srt' }, 400, 'response_format'],
  ['a language by name', { language: 'english' }, 400, 'language'],
  ['temperature as a word', { temperature: 'hot' }, 400, 'temperature'],
  ['temperature above 1', { temperature: '1.1' }, 400, 'temperature'],
  ['granularities of json', { 'timestamp_granularities[]': 'word' }, 400, 'timestamp_granularities'],
  ['unknown granularity', { response_format: 'verbose_json', 'timestamp_granularities[]': 'letter' }, 400, 'timestamp_granularities'],
  ['certainties of whisper', { 'include[]': 'logprobs' }, 400, 'include'],
  ['a prompt to the diarizing model', { model: 'gpt-4o-transcribe-diarize', prompt: 'x' }, 400, 'prompt'],
  ['an unknown field', { colour: 'red' }, 400, null],
  ['no model', { model: '' }, 400, null],
  ['no such model', { model: 'missing-whisper' }, 404, null],
];

for (const [note, fields, status, param] of badTranscriptions) {
  test(`wrong-transcription-request: ${note} is refused`, async () => {
    await assertRefused(await transcribe(await wave(), fields), status, param);
  });
}

test('wrong-file: a missing, too large, unknown or broken file is refused', async () => {
  const bytes = await wave();
  const send = (file: Uint8Array<ArrayBuffer> | undefined, name: string): Promise<Response> =>
    hear('/v1/audio/transcriptions', file, name, { model: 'whisper-1' });
  await assertRefused(await send(undefined, ''), 400, 'file');
  await assertRefused(await send(bytes, 'speech'), 400, null, /^Unrecognized file format/);
  await assertRefused(await send(bytes, 'speech.aac'), 400, null, /^Invalid file format/);
  await assertRefused(await send(new TextEncoder().encode('no audio'), 'a.mp3'), 400, null, /could not be decoded/);
  await assertRefused(
    await send(new Uint8Array(26_214_401), 'a.wav'),
    413,
    null,
    /^Maximum content size limit \(26214400\) exceeded \(26214401/,
  );
  await assertRefused(await send(new Uint8Array(await encodeAudio(new Int16Array(240), 'wav', '')), 'a.wav'), 400, 'file', /too short/);
  const json = { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' };
  await assertRefused(await fetch(`${origin()}/v1/audio/transcriptions`, json), 415, null);
  const broken = { method: 'POST', headers: { authorization, 'content-type': 'multipart/form-data; boundary=x' }, body: 'nothing' };
  await assertRefused(await fetch(`${origin()}/v1/audio/transcriptions`, broken), 400, null, /multipart/);
  await assertRefused(await fetch(`${origin()}/v1/audio/speech`, { method: 'POST' }), 401, null);
});

test('other-servers: whisper.cpp answers in its own format without a credential, another supports only json', async () => {
  const bytes = await wave();
  const form = { response_format: 'verbose_json', temperature: '0.2' };
  const whisper = await hear('/whisper-cpp/inference', bytes, 'a.bin', form, { authorization: '' });
  const body = await record(whisper);
  assert.equal(body['detected_language'], 'english');
  const [segment] = recordsOf(body['segments']);
  assert.ok(segment !== undefined && !('seek' in segment) && recordsOf(segment['words']).length > 0);
  assert.match(asText(body['text']), /^ The beach/);
  assert.equal(
    (await hear('/whisper-cpp/inference', bytes, 'a', { response_format: 'srt' })).headers.get('content-type'),
    'application/x-subrip',
  );
  assert.deepEqual(await record(await hear('/whisper-cpp/inference', undefined, '', { model: 'x' })), {
    error: "no 'file' field in the request",
  });
  const only = await hear('/json-only/v1/audio/transcriptions', bytes, 'a.wav', { model: 'x', response_format: 'srt' });
  assert.deepEqual(await record(only), { text });
});

test('broken-servers: the quirks of a transcription have the effect of their name', async () => {
  const bytes = await wave();
  const quirk = (kind: string, format: string): Promise<Response> =>
    transcribe(bytes, { response_format: format }, { 'x-simulator-fault': `audio-quirk;kind=${kind}` });
  assert.equal('segments' in (await record(await quirk('no-segments', 'verbose_json'))), false);
  assert.equal(typeof (await record(await quirk('string-duration', 'verbose_json')))['duration'], 'string');
  assert.equal('duration' in (await record(await quirk('no-duration', 'verbose_json'))), false);
  assert.equal((await record(await quirk('language-code', 'verbose_json')))['language'], 'en');
  const quoted = await quirk('quoted-text', 'srt');
  assert.equal(quoted.headers.get('content-type'), 'application/json');
  assert.match(asText(JSON.parse(await quoted.text())), /^1\n00:00:00,000 --> /);
  assert.equal(await (await quirk('empty-text', 'vtt')).text(), '');
  assert.equal((await quirk('no-such-quirk', 'vtt')).status, 400);
});

test('broken-audio: faults cut, stall and refuse speech like texts', async () => {
  const fault = (name: string): Promise<Response> => speak({}, { 'x-simulator-fault': name });
  const whole = (await (await speak({})).arrayBuffer()).byteLength;
  assert.equal((await fault('status;status=429')).status, 429);
  assert.equal((await fault('status;status=500')).status, 500);
  assert.equal((await (await fault('truncate;how=end')).arrayBuffer()).byteLength, 8_192);
  await assert.rejects(async () => (await fault('reset-mid-stream;after=2')).arrayBuffer());
  await assert.rejects(fault('reset-before-headers'));
  assert.equal((await (await fault('stall-mid-stream;ms=20')).arrayBuffer()).byteLength, whole);
  await assert.rejects(async () => (await fault('truncate;how=fin')).arrayBuffer());
  assert.equal((await (await fault('line-ends;kind=crlf')).arrayBuffer()).byteLength, whole);
  assert.equal((await (await fault('gzip')).arrayBuffer()).byteLength, whole);
  await assert.rejects(async () => (await fault('conflicting-lengths')).arrayBuffer());
});

test('steered-transcription: a text requested by header or in the prompt is the transcript', async () => {
  const bytes = await wave();
  assert.equal((await record(await transcribe(bytes, {}, { 'x-simulator-text': 'Quite%20another' })))['text'], 'Quite another');
  const prompted = await transcribe(bytes, { prompt: '[[simulator text=As%20asked]]' });
  assert.equal((await record(prompted))['text'], 'As asked');
  assert.deepEqual(simulator.records().at(-1)?.requestForm?.['file'], {
    name: 'speech.wav',
    type: 'application/octet-stream',
    bytes: bytes.length,
  });
});

test('language-names: codes of two and three letters have names, and names have their code', () => {
  assert.equal(nameOfLanguage('de'), 'german');
  assert.equal(nameOfLanguage('deu'), 'german');
  for (const wrong of ['german', 'xx', 'de-DE', 'DE', '']) assert.equal(nameOfLanguage(wrong), undefined);
  assert.equal(codeOfLanguage('german'), 'de');
  assert.equal(codeOfLanguage('klingon the language'), undefined);
});

async function assertRefused(response: Response, status: number, param: string | null, message?: RegExp): Promise<void> {
  const body = await record(response);
  assert.equal(response.status, status, JSON.stringify(body));
  const { error } = body;
  assert.ok(isRecord(error));
  assert.equal(error['param'], param, JSON.stringify(error));
  assert.ok(asText(error['message']) !== '' && asText(error['type']) !== '');
  if (message !== undefined) assert.match(asText(error['message']), message);
}

function readEvents(body: string): JsonRecord[] {
  return body
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.replace(/^data: /, '')) as JsonRecord);
}
