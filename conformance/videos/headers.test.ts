import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';

import { audioKey, type AudioWeir, startAudioWeir } from '../audio/audio-weir.ts';
import { makeWav, type SeenCall } from '../audio/start-audio-upstream.ts';
import { type Answer, call, eventually } from '../support/http.ts';

const canary = 'canary-5f2c';
const upstreamTask = `up_${canary}`;
const file = Buffer.from('\0\0\0\u0018ftypmp42 and what is said to be a video', 'latin1');

/** Headers that upstreams, and proxies before them, put into every answer. */
const heads = {
  'set-cookie': `session=${canary}; Path=/`,
  server: `nginx-${canary}`,
  via: `1.1 ${canary}`,
  'x-powered-by': canary,
  'cf-ray': canary,
  'x-amz-cf-id': canary,
  'x-envoy-upstream-service-time': canary,
  'openai-organization': canary,
  'openai-project': canary,
  authorization: `Bearer ${audioKey}`,
  'x-api-key': audioKey,
  'x-debug': `key ${audioKey}`,
  'www-authenticate': `Bearer realm="${canary}"`,
  location: `https://files.example/${canary}`,
  'access-control-allow-origin': '*',
  'content-disposition': `attachment; filename="${canary}.mp4"`,
  etag: `"${canary}"`,
  'last-modified': 'Sun, 22 Nov 2026 00:00:00 GMT',
  refresh: `0; url=https://files.example/${canary}`,
  'x-weir-request-id': canary,
};

/** Weir's own headers. The monitor, browsers and SDKs use these; no other header may be present. */
const known =
  /^(?:date|connection|keep-alive|transfer-encoding|content-(?:type|length|range|disposition)|accept-ranges|cache-control|etag|vary|retry-after|allow|x-content-type-options|x-accel-buffering|x-weir-[a-z-]+|x-request-id|openai-poll-after-ms)$/;

function answerAs({ path }: Pick<SeenCall, 'path'>, response: ServerResponse): void {
  const json = (body: object): void =>
    void response.writeHead(200, { ...heads, 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (path === '/refuse') {
    response.writeHead(400, { ...heads, 'content-type': 'application/json' });
    return void response.end(JSON.stringify({ error: { message: `not with ${audioKey}`, code: 'no' } }));
  }
  if (path.endsWith('/content')) return void response.writeHead(200, { ...heads, 'content-type': 'video/mp4' }).end(file);
  if (path.includes(`/videos/${upstreamTask}`)) {
    const url = `https://files.example/${canary}.mp4?signature=${canary}`;
    return json({
      id: upstreamTask,
      object: 'video',
      status: 'completed',
      progress: 100,
      seconds: '4',
      metadata: { url },
      video_url: url,
      user: canary,
    });
  }
  if (/\/videos?(?:\/generations)?$/.test(path))
    return json({ id: upstreamTask, object: 'video', status: 'queued', progress: 0, user: canary });
  if (path.endsWith('/speech')) return void response.writeHead(200, { ...heads, 'content-type': 'audio/mpeg' }).end(file);
  json({ text: 'What was heard.' });
}

describe('F52, S5: the parts of an upstream’s answers that pass', () => {
  let running: AudioWeir;
  const answers: { readonly what: string; readonly answer: Answer }[] = [];
  before(async () => {
    running = await startAudioWeir(answerAs, {
      quirks: { videos: 'video-generations' },
      models: { 'sora-2': { targets: [{ upstream: 'vendor', model: 'sora-2' }] }, own: { targets: [{ upstream: 'server', model: 'v' }] } },
      weir: { environment: { WEIR_LOG_LEVEL: 'debug' } },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  const ask = async (
    method: string,
    path: string,
    body?: object | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> => {
    const answer = await call(`${running.weir.gatewayUrl}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${running.weir.apiKey}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    });
    answers.push({ what: `${method} ${path}`, answer });
    return answer;
  };

  const isClean = ({ what, answer }: (typeof answers)[number]): void => {
    const head = Object.entries(answer.headers);
    const strange = head.map(([name]) => name).filter((name) => !known.test(name));
    assert.deepEqual(strange, [], what);
    const all = `${JSON.stringify(head)}\n${answer.text}`;
    assert.ok(!all.includes(canary) && !all.includes(audioKey), `${what}: ${all}`);
  };

  test('videos: neither the upstream’s headers nor its id nor its link pass, on any route', async () => {
    for (const [model, path] of [
      ['sora-2', '/videos'],
      ['own', '/video/generations'],
    ] as const) {
      const created = await ask('POST', path, { model, prompt: 'a kite', seconds: '4' });
      assert.equal(created.status, 200, created.text);
      const at = `/videos/${created.json.id}`;
      await eventually(
        () => ask('GET', at),
        ({ json }) => json.status === 'completed',
        60_000,
      );
      const content = await ask('GET', `${at}/content`);
      assert.deepEqual([content.status, content.text, content.headers['cache-control']], [200, file.toString(), 'private, no-store']);
      assert.equal((await ask('HEAD', `${at}/content`)).status, 200);
      assert.equal((await ask('GET', `${at}/content`, undefined, { range: 'bytes=0-3' })).status, 206);
      for (const further of [`/video/generations/${created.json.id}`, `${at}/events`, `${at}/receipt`, '/videos', '/videos/models'])
        assert.equal((await ask('GET', further)).status, 200, further);
      assert.equal((await ask('DELETE', at)).status, 200);
    }
    for (const unknown of [`/videos/${upstreamTask}`, `/videos/${upstreamTask}/content`]) {
      const { status, text } = await call(`${running.weir.gatewayUrl}/v1${unknown}`, {
        headers: { authorization: `Bearer ${running.weir.apiKey}` },
      });
      assert.equal(status, 404, `${unknown} is the upstream’s id and unknown here: ${text}`);
    }
    for (const one of answers) isClean(one);
  });

  test('audio: neither the upstream’s headers nor the credential pass', async () => {
    const from = answers.length;
    assert.equal((await ask('POST', '/audio/speech', { model: 'tts-1', input: 'Hi', voice: 'alloy' })).status, 200);
    for (const route of ['transcriptions', 'translations']) {
      const form = new FormData();
      form.set('model', 'whisper-1');
      form.set('file', new Blob([new Uint8Array(makeWav(1))]), 'a.wav');
      const asked = new Request('http://any', { method: 'POST', body: form });
      const type = asked.headers.get('content-type') ?? '';
      const { status, text } = await ask('POST', `/audio/${route}`, Buffer.from(await asked.arrayBuffer()), { 'content-type': type });
      assert.equal(status, 200, text);
    }
    for (const one of answers.slice(from)) isClean(one);
  });

  test('refusals have the upstream’s message without the credential', async (context) => {
    running.upstream.answer = (seen, response) => answerAs({ ...seen, path: '/refuse' }, response);
    const from = answers.length;
    const speech = await ask('POST', '/audio/speech', { model: 'tts-1', input: 'Hi', voice: 'alloy' });
    const video = await ask('POST', '/videos', { model: 'sora-2', prompt: 'a kite', seconds: '4' });
    assert.deepEqual([speech.status, video.status], [400, 400]);
    for (const one of answers.slice(from)) isClean(one);
    const names = new Set(answers.flatMap(({ answer }) => Object.keys(answer.headers)));
    context.diagnostic(`${answers.length} answers; headers seen: ${[...names].toSorted().join(', ')}`);
  });

  test('the log has neither the id nor the link nor the credential at any level', () => {
    const output = running.weir.output();
    assert.ok(output.length > 0);
    assert.ok(
      !output.includes(canary) && !output.includes(audioKey),
      output.split('\n').find((line) => line.includes(canary) || line.includes(audioKey)) ?? '',
    );
  });
});
