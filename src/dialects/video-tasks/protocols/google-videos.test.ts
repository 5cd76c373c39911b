import assert from 'node:assert/strict';
import { test } from 'node:test';

import { read, refusalOf } from '../testing/test-kit.ts';
import { geminiVideos, vertexVideos } from './google-videos.ts';

const model = 'veo-3.1-generate-preview';
const png = 'data:image/png;base64,iVBORw0KGgo=';
const image = { bytesBase64Encoded: 'iVBORw0KGgo=', mimeType: 'image/png' };

type Body = Readonly<Record<string, unknown>>;

function submit(protocol: typeof vertexVideos, body: Body, upstreamModel = model) {
  const { path, body: sent, billing, ignored } = protocol.encodeSubmission(read(body).request, upstreamModel);
  const { instances, parameters } = JSON.parse(sent.toString()) as { instances: unknown[]; parameters: Body };
  assert.equal(path, ':predictLongRunning');
  return { instance: instances[0], instances, parameters, billing, ignored };
}

const usual = { durationSeconds: 8, aspectRatio: '16:9', resolution: '720p', sampleCount: 1 };

test('everything that costs money is sent, and the bill is that of the body', () => {
  const plain = submit(vertexVideos, {});
  assert.deepEqual(plain.instances, [{ prompt: 'p' }]);
  assert.deepEqual(plain.parameters, { ...usual, generateAudio: true });
  assert.deepEqual(plain.billing, { usage: { outputVideoMs: 8000, inputImages: 0 }, parameters: { resolution: '720p' } });
  const chosen = submit(geminiVideos, { duration: 4, metadata: { resolution: '1080p', aspect_ratio: '9:16' } });
  assert.deepEqual(chosen.parameters, { ...usual, durationSeconds: 4, resolution: '1080p', aspectRatio: '9:16' });
  assert.deepEqual(chosen.billing, { usage: { outputVideoMs: 4000, inputImages: 0 }, parameters: { resolution: '1080p' } });
});

test('metadata cannot make a video longer, larger or more numerous than what is billed', () => {
  const metadata = { sampleCount: 4, numberOfVideos: 4, storageUri: 'gs://theirs', fps: 60, pubsubTopic: 't', lastFrame: image, seed: 7 };
  const { parameters, ignored, billing } = submit(vertexVideos, {
    metadata: { ...metadata, negativePrompt: 'rain', generateAudio: false },
  });
  assert.deepEqual(parameters, { ...usual, seed: 7, negativePrompt: 'rain', generateAudio: false });
  assert.deepEqual(
    ignored,
    ['sampleCount', 'numberOfVideos', 'storageUri', 'fps', 'pubsubTopic', 'lastFrame'].map((key) => `metadata.${key}`),
  );
  assert.equal(billing.usage.outputVideoMs, 8000);
  assert.equal(submit(vertexVideos, { metadata: { durationSeconds: 4 } }).billing.usage.outputVideoMs, 4000);
  assert.equal(refusalOf(() => submit(vertexVideos, { duration: 8, metadata: { durationSeconds: 4 } })).param, 'metadata.durationSeconds');
  // The Gemini API refuses these.
  assert.deepEqual(submit(geminiVideos, { metadata: { seed: 7, generateAudio: false } }).parameters, usual);
});

test('the second generation has lengths of its own and no resolution', () => {
  const { parameters } = submit(vertexVideos, { duration: 5 }, 'veo-2.0-generate-001');
  assert.deepEqual(parameters, { durationSeconds: 5, aspectRatio: '16:9', sampleCount: 1 });
});

test('images are in the request: one as the first frame, several as references', () => {
  assert.deepEqual(submit(geminiVideos, { image: png }).instance, { prompt: 'p', image });
  const references = [image, image].map((each) => ({ image: each, referenceType: 'asset' }));
  assert.deepEqual(submit(vertexVideos, { images: [png, png] }).instance, { prompt: 'p', referenceImages: references });
  assert.equal(submit(vertexVideos, { image: png }).billing.usage.inputImages, 1);
});

test('requests that the vendor cannot express are refused, and the error names the field', () => {
  for (const [body, param, upstreamModel = model] of [
    [{ duration: 5 }, 'duration'],
    [{ duration: 4 }, 'duration', 'veo-2.0-generate-001'],
    [{ metadata: { resolution: '1080p' } }, 'resolution', 'veo-2.0-generate-001'],
    [{ metadata: { resolution: '480p' } }, 'resolution'],
    [{ metadata: { aspect_ratio: '1:1' } }, 'aspect_ratio'],
    [{ image: 'https://media.example/a.png' }, 'images'],
    [{ images: [png, png, png, png] }, 'images'],
    [{ metadata: { video: 'https://media.example/v.mp4' } }, 'video'],
  ] as const)
    assert.equal(refusalOf(() => submit(vertexVideos, body, upstreamModel)).param, param, JSON.stringify(body));
});

const reply = (body: unknown, status = 200) => ({ status, body: Buffer.from(JSON.stringify(body)) });
const vertexName = `projects/acme/locations/us-central1/publishers/google/models/${model}/operations/a-1`;
const geminiName = `models/${model}/operations/a1`;

test('a submission is accepted with the name of its operation, and with nothing else', () => {
  assert.deepEqual(vertexVideos.readSubmission(reply({ name: vertexName })), {
    type: 'accepted',
    upstreamTaskId: vertexName,
    video: { status: 'queued' },
  });
  for (const name of ['', geminiName, `${vertexName}/../x`, 'projects/a?b/operations/1', null])
    assert.equal(vertexVideos.readSubmission(reply({ name })).type, 'unclear', String(name));
  assert.equal(geminiVideos.readSubmission(reply({ name: geminiName })).type, 'accepted');
  assert.equal(geminiVideos.readSubmission(reply({ error: { code: 400, message: 'no' } }, 400)).type, 'refused');
});

test('operations are asked for as Google’s SDK does', () => {
  assert.equal(vertexVideos.statusPath(vertexName), `/v1beta1/${vertexName.replace(/\/operations.*/, '')}:fetchPredictOperation`);
  assert.equal(vertexVideos.statusBody?.(vertexName).toString(), JSON.stringify({ operationName: vertexName }));
  assert.equal(geminiVideos.statusPath(geminiName), `/v1beta/${geminiName}`);
  assert.equal(geminiVideos.statusBody, undefined);
});

test('every state of an operation is read', () => {
  const path = vertexVideos.statusPath(vertexName);
  const body = JSON.stringify({ operationName: vertexName });
  const reason = "It violates Google's Responsible AI practices.";
  const failed = (code: string, message: string) => ({ status: 'failed', error: { code, message }, isBilled: false });
  for (const [said, expected] of [
    [{}, { status: 'in_progress' }],
    [
      { done: false, metadata: { progressPercent: 40 } },
      { status: 'in_progress', progress: 40 },
    ],
    [
      { done: true, response: { videos: [{ bytesBase64Encoded: 'AAAA', mimeType: 'video/mp4' }] } },
      { status: 'completed', result: { kind: 'reply', path, body, member: 'bytesBase64Encoded' } },
    ],
    [
      { done: true, response: { videos: [{ gcsUri: 'gs://a/b' }] } },
      { status: 'completed', result: { kind: 'object', uri: 'gs://a/b' } },
    ],
    [{ done: true, error: { code: 13, message: 'GPU on fire' } }, failed('upstream_failed', 'GPU on fire')],
    [{ done: true, error: { code: 3, message: "violate Google's usage guidelines" } }, failed('content_moderated', "violate Google's usage guidelines")], // prettier-ignore
    [{ done: true, response: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: [reason] } }, failed('content_moderated', reason)],
  ] as const)
    assert.deepEqual(vertexVideos.readStatus(reply({ name: vertexName, ...said }), vertexName), expected, JSON.stringify(said));
  const uri = 'https://generativelanguage.googleapis.com/v1beta/files/a:download?alt=media';
  const samples = (video: object) => ({
    name: geminiName,
    done: true,
    response: { generateVideoResponse: { generatedSamples: [{ video }] } },
  });
  assert.deepEqual(geminiVideos.readStatus(reply(samples({ uri })), geminiName), {
    status: 'completed',
    result: { kind: 'url', url: uri },
  });
});

test('an answer that says nothing clear ends no task', () => {
  for (const said of [
    { done: true },
    { done: true, response: { videos: [] } },
    { done: true, response: { videos: [{ gcsUri: 'https://a/b' }] } },
    { done: true, response: { videos: [{ gcsUri: 'gs://a' }] } },
    { error: { code: 1 } },
  ]) {
    const { status } = vertexVideos.readStatus(reply({ name: vertexName, ...said }), vertexName);
    assert.ok(status === 'unclear' || status === 'in_progress', JSON.stringify(said));
  }
  assert.equal(vertexVideos.readStatus(reply({ done: true }), vertexName).status, 'unclear');
  assert.equal(vertexVideos.readStatus(reply({ error: { code: 404, message: 'gone' } }, 404), vertexName).status, 'missing');
});
