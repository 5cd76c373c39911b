import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { encodeAudio } from '../../media/audio-encode.ts';
import { finish } from '../../media/audio-pcm.ts';
import { playTones } from '../../media/audio-tones.ts';
import { writeTranscriptComment } from '../../media/audio-transcript.ts';
import { hearRecording } from '../../media/hear-recording.ts';
import { asText, isRecord, recordsOf } from '../../read-json.ts';
import type { Json, JsonRecord } from '../../simulated-vendor.ts';
import { startSimulator, type RunningSimulator } from '../../start-simulator.ts';

let simulator: RunningSimulator;
before(async () => {
  simulator = await startSimulator();
});
after(() => simulator.close());

const spoken = { model: 'gpt-audio', modalities: ['text', 'audio'], audio: { voice: 'coral', format: 'wav' } };

async function chat(body: JsonRecord, content: Json = 'How is the weather?'): Promise<Response> {
  return await fetch(`${simulator.addresses.openai}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-audio', messages: [{ role: 'user', content }], ...body }),
  });
}

async function record(response: Response): Promise<JsonRecord> {
  const body = (await response.json()) as Json;
  assert.ok(isRecord(body));
  return body;
}

function memberOf(value: Json | undefined, name: string): JsonRecord {
  const member = isRecord(value) ? value[name] : undefined;
  assert.ok(isRecord(member), name);
  return member;
}

for (const format of ['wav', 'mp3', 'flac', 'opus', 'aac']) {
  test(`spoken-chat: a reply in ${format} has its transcript`, async () => {
    const body = await record(await chat({ ...spoken, audio: { voice: 'coral', format } }));
    const message = memberOf(recordsOf(body['choices'])[0], 'message');
    const audio = memberOf(message, 'audio');
    assert.equal(message['content'], null);
    assert.match(asText(audio['transcript']), /simulated/i);
    const heard = await hearRecording(new Uint8Array(Buffer.from(asText(audio['data']), 'base64')));
    assert.equal(heard?.text, audio['transcript']);
    const usage = memberOf(body, 'usage');
    assert.equal(memberOf(usage, 'completion_tokens_details')['audio_tokens'], usage['completion_tokens']);
    assert.deepEqual(simulator.records().at(-1)?.reportedUsage, usage);
  });
}

test('spoken-chat: a stream is the transcript, then the audio, then its expiry', async () => {
  const response = await chat({
    ...spoken,
    stream: true,
    audio: { voice: 'coral', format: 'pcm16' },
    stream_options: { include_usage: true },
  });
  const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '');
  assert.equal(frames.pop(), 'data: [DONE]');
  const bodies = frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')) as JsonRecord);
  const deltas = bodies.flatMap((body) => recordsOf(body['choices'])).map((choice) => memberOf(choice, 'delta'));
  const audios = deltas.flatMap((delta) => (isRecord(delta['audio']) ? [delta['audio']] : []));
  assert.ok(deltas.every((delta) => typeof delta['content'] !== 'string'));
  assert.match(asText(audios[0]?.['id']), /^audio_/);
  const transcript = audios.map((audio) => asText(audio['transcript'])).join('');
  assert.match(transcript, /simulated/i);
  const bytes = Buffer.from(audios.map((audio) => asText(audio['data'])).join(''), 'base64');
  assert.ok(bytes.length > 24_000 && bytes.length % 2 === 0);
  assert.equal(typeof audios.at(-1)?.['expires_at'], 'number');
  assert.ok(memberOf(bodies.at(-1), 'usage')['total_tokens']);
});

test('heard-chat: a recording is answered by its words', async () => {
  const words = 'Tell me about lighthouses please';
  const samples = finish(playTones(words, 262, 1));
  const data = (await encodeAudio(samples, 'mp3', writeTranscriptComment(words, 1_000 * (samples.length / 24_000)))).toString('base64');
  const body = await record(await chat({}, [{ type: 'input_audio', input_audio: { data, format: 'mp3' } }]));
  assert.match(asText(memberOf(recordsOf(body['choices'])[0], 'message')['content']), /lighthouses/);
});

const refused: readonly (readonly [note: string, body: JsonRecord, content: Json, param: string])[] = [
  ['no audio parameters', { modalities: ['audio'] }, 'Hi', 'audio'],
  ['an unknown format', { ...spoken, audio: { voice: 'coral', format: 'ogg' } }, 'Hi', 'audio.format'],
  ['a stream in a container', { ...spoken, stream: true }, 'Hi', 'audio.format'],
  ['an invalid recording', {}, [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }], 'messages'],
];

for (const [note, body, content, param] of refused) {
  test(`wrong-audio-chat: ${note} is refused`, async () => {
    const response = await chat(body, content);
    assert.equal(response.status, 400);
    assert.equal(memberOf(await record(response), 'error')['param'], param);
  });
}

test('silent-chat: a call of a tool is not spoken', async () => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }];
  const body = await record(await chat({ ...spoken, tools, tool_choice: 'required' }));
  const message = memberOf(recordsOf(body['choices'])[0], 'message');
  assert.equal(recordsOf(message['tool_calls']).length, 1);
  assert.equal('audio' in message, false);
});
