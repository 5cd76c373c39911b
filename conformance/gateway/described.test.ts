import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { readExposition, sumSamples } from '../../src/platform/metrics/testing/read-exposition.ts';
import { startReceiver } from '../../src/tasks/callbacks/testing/callback-receiver.ts';
import { type Answer, call, eventually, post } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';
import { assertDescribed, assertEventDescribed, assertRequestDescribed } from './described-answers.ts';

let running: SimulatedWeir;

before(async () => {
  running = await startSimulatedGateway({
    config: { callbacks: { privateAddresses: true }, prices: { credits: { name: 'coins', perUsd: '2000' } } },
    weir: { environment: { WEIR_METRICS_PORT: '0' } },
  });
});
after(() => running[Symbol.asyncDispose]());

type Asked = {
  readonly method?: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object;
  readonly form?: FormData;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request is invalid on purpose. */
  readonly isWrong?: boolean;
};

/** Makes one call and compares its request and answer with the description. */
async function ask(
  template: string,
  { method, path = {}, query = '', body, form, key, headers = {}, isWrong }: Asked = {},
): Promise<Answer> {
  const used = method ?? (body === undefined && form === undefined ? 'GET' : 'POST');
  const url = `${running.weir.gatewayUrl}${template.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '')}${query}`;
  const sent = form === undefined ? undefined : new Response(form);
  const type = sent?.headers.get('content-type') ?? (body === undefined ? undefined : 'application/json');
  if (body !== undefined && isWrong !== true) assertRequestDescribed(used, template, 'application/json', body);
  if (form !== undefined && isWrong !== true) assertRequestDescribed(used, template, 'multipart/form-data', fieldsOf(form));
  const answer = await call(url, {
    method: used,
    headers: { authorization: `Bearer ${key ?? running.weir.apiKey}`, ...(type === undefined ? {} : { 'content-type': type }), ...headers },
    ...(sent === undefined ? {} : { body: Buffer.from(await sent.arrayBuffer()) }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  assertDescribed(used, template, answer);
  return answer;
}

/** A form as its schema sees it: repeated fields are lists, and numbers and booleans are typed. */
function fieldsOf(form: FormData): object {
  const value = (name: string, one: string | File): unknown =>
    one instanceof File ? 'bytes' : name === 'temperature' ? Number(one) : name === 'stream' ? one === 'true' : one;
  return Object.fromEntries(
    [...new Set(form.keys())].map((name) => {
      const all = form.getAll(name).map((one) => value(name, one));
      return [name, name.startsWith('timestamp_granularities') ? all : all[0]];
    }),
  );
}

test("with the operator's own unit, balances, quotes and receipts show it beside USD", async () => {
  const body = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] };
  const quote = await ask('/v1/quote', { body: { path: '/v1/chat/completions', body } });
  const unit = { name: 'coins', per_usd: '2000' };
  assert.deepEqual([quote.json.credit_unit, Number(quote.json.maximum.credits)], [unit, Number(quote.json.maximum.nano_usd) / 500_000]);
  assert.deepEqual((await ask('/v1/credits')).json.credit_unit, unit);
  const auth = { authorization: `Bearer ${running.weir.apiKey}` };
  const id = String((await post(`${running.weir.gatewayUrl}/v1/chat/completions`, body, auth)).headers['x-weir-request-id']);
  const receipt = await eventually(
    () => ask('/v1/receipts/{id}', { path: { id } }),
    ({ status }) => status === 200,
  );
  assert.deepEqual(receipt.json.credits, { ...unit, total: String(Number(receipt.json.total.nano_usd) / 500_000) });
});

const quick = { 'x-simulator-video': 'ms=200' };

async function over(id: string): Promise<Answer> {
  return await eventually(
    () => ask('/v1/videos/{id}', { path: { id } }),
    ({ json }) => ['completed', 'failed', 'done', 'expired'].includes(json.status),
    30_000,
  );
}

describe('videos answer as the OpenAPI document says', { concurrency: true }, () => {
  test('the form of the contract, with every field of a video', async (context) => {
    const { url: callback, received } = await startReceiver(context);
    const body = {
      model: 'vendor-imagine-video',
      prompt: 'a red kite',
      duration: 2,
      metadata: { resolution: '480p', seed: 7, nested: { deep: [1.5] } },
      callback_url: callback,
    };
    const created = await ask('/v1/video/generations', { body, headers: { ...quick, 'idempotency-key': 'described' } });
    const { id } = created.json;
    await ask('/v1/videos/{id}/receipt', { path: { id } });
    await ask('/v1/videos/{id}/events', { path: { id } });
    assert.equal((await over(id)).json.status, 'completed');
    await ask('/v1/video/generations/{id}', { path: { id } });
    await ask('/v1/videos/{id}/receipt', { path: { id } });
    const whole = await ask('/v1/videos/{id}/content', { path: { id } });
    await ask('/v1/videos/{id}/content', { path: { id }, method: 'HEAD' });
    await ask('/v1/videos/{id}/content', { path: { id }, headers: { range: 'bytes=0-99' } });
    await ask('/v1/videos/{id}/content', { path: { id }, headers: { range: 'bytes=999999999-' } });
    await ask('/v1/videos/{id}/content', { path: { id }, headers: { 'if-none-match': String(whole.headers['etag']) } });
    await ask('/v1/videos/{id}/content', { path: { id }, query: '?variant=thumbnail' });
    const conflict = await ask('/v1/video/generations', {
      body: { ...body, duration: 3 },
      headers: { ...quick, 'idempotency-key': 'described' },
    });
    assert.equal(conflict.status, 409);
    await eventually(
      () => received.length,
      (length) => length >= 1,
    );
    assertEventDescribed(JSON.parse(received[0]?.body ?? ''));
    const listed = await ask('/v1/callbacks', { query: `?subject=${id}` });
    await ask('/v1/callbacks/{id}/redeliver', { path: { id: listed.json.data[0].id }, method: 'POST' });
    await ask('/v1/callbacks/{id}/redeliver', { path: { id: 'msg_none' }, method: 'POST' });
    await ask('/v1/callbacks/secret/rotate', { method: 'POST' });
    await ask('/v1/callbacks', { query: '?limit=0' });
  });

  test("OpenAI's form is described as JSON and as a form, with remixes, lists and deletions", async () => {
    const body = { model: 'sora-2', prompt: 'a red kite', seconds: '4', size: '1280x720' };
    const { id } = (await ask('/v1/videos', { body, headers: quick })).json;
    const form = new FormData();
    for (const [name, value] of Object.entries(body)) form.set(name, value);
    await ask('/v1/videos', { form, headers: { 'x-simulator-video': 'end=failed;ms=100' } }).then(({ json }) => over(json.id));
    await over(id);
    const remixed = await ask('/v1/videos/{id}/remix', { path: { id }, body: { prompt: 'a blue kite' }, headers: quick });
    assert.equal(remixed.json.remixed_from_video_id, id);
    await over(remixed.json.id);
    await ask('/v1/videos', { query: '?limit=2&order=asc' });
    await ask('/v1/videos', { query: '?limit=1000' });
    assert.equal((await ask('/v1/videos/{id}', { path: { id }, method: 'DELETE' })).json.deleted, true);
    await ask('/v1/videos/{id}/content', { path: { id } });
  });

  test("xAI's form is described, and so is a video that moderation withheld", async () => {
    const wish = { model: 'grok-imagine-video', prompt: 'a red kite' };
    const body = { ...wish, duration: 1 };
    const withheld = await ask('/v1/videos/generations', { body, headers: { 'x-simulator-video': 'end=moderated;ms=100' } });
    const { request_id: id } = (await ask('/v1/videos/generations', { body, headers: quick })).json;
    await ask('/v1/videos/{id}/events', { path: { id } });
    const { url } = (await over(id)).json.video;
    const edited = await ask('/v1/videos/edits', { body: { ...wish, video: { url } }, headers: quick });
    await Promise.all([over(edited.json.request_id), over(withheld.json.request_id)]);
    await ask('/v1/videos/{id}/receipt', { path: { id: withheld.json.request_id } });
    await ask('/v1/videos/generations', { body: { model: body.model }, isWrong: true });
  });

  test('the offered models and the refusals are described', async () => {
    assert.ok((await ask('/v1/videos/models')).json.data.length > 0);
    const wrong: readonly object[] = [
      {},
      { model: 'm' },
      { model: 'vendor-imagine-video', prompt: 'p', duration: 99 },
      { model: 'none', prompt: 'p' },
    ];
    for (const body of wrong) {
      const { status } = await ask('/v1/video/generations', { body, isWrong: true });
      assert.ok(status === 400 || status === 404, String(status));
    }
    for (const template of ['/v1/videos/{id}', '/v1/videos/{id}/content', '/v1/videos/{id}/events', '/v1/videos/{id}/receipt'])
      for (const [key, status] of [
        [undefined, 404],
        ['wrong', 401],
      ] as const)
        assert.equal((await ask(template, { path: { id: 'task_none' }, ...(key === undefined ? {} : { key }) })).status, status);
    await ask('/v1/videos/{id}', { path: { id: 'task_none' }, method: 'DELETE' });
  });
});

describe('audio answers as the OpenAPI document says', { concurrency: true }, () => {
  const speech = { model: 'tts-1', voice: 'nova', input: 'The kettle is on the stove. Everybody waits for tea.' };

  async function recording(): Promise<File> {
    const { weir } = running;
    const reply = await fetch(`${weir.gatewayUrl}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...speech, response_format: 'wav' }),
    });
    return new File([await reply.arrayBuffer()], 'kettle.wav', { type: 'audio/wav' });
  }

  test('speech is described in six formats, in events, and refused', async () => {
    for (const response_format of ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'])
      await ask('/v1/audio/speech', { body: { ...speech, response_format } });
    const events = await ask('/v1/audio/speech', { body: { ...speech, model: 'gpt-4o-mini-tts', stream_format: 'sse' } });
    assert.match(String(events.headers['content-type']), /event-stream/);
    await ask('/v1/audio/speech', { body: { ...speech, speed: 9 }, isWrong: true });
    await ask('/v1/audio/speech', { body: speech, key: 'wrong' });
  });

  test('transcripts are described in five formats, with words, in events, in English, and refused', async () => {
    const file = await recording();
    const formOf = (fields: Readonly<Record<string, string>>): FormData => {
      const form = new FormData();
      form.set('file', file);
      for (const [name, value] of Object.entries({ model: 'whisper-1', ...fields })) form.set(name, value);
      return form;
    };
    for (const response_format of ['json', 'text', 'srt', 'vtt', 'verbose_json']) {
      await ask('/v1/audio/transcriptions', { form: formOf({ response_format, temperature: '0.2' }) });
      await ask('/v1/audio/translations', { form: formOf({ response_format }) });
    }
    const words = await ask('/v1/audio/transcriptions', {
      form: formOf({ response_format: 'verbose_json', 'timestamp_granularities[]': 'word' }),
    });
    assert.ok(words.json.words.length > 5);
    const events = await ask('/v1/audio/transcriptions', { form: formOf({ model: 'gpt-4o-transcribe', stream: 'true' }) });
    assert.match(String(events.headers['content-type']), /event-stream/);
    await ask('/v1/audio/transcriptions', { form: formOf({ response_format: 'poem' }), isWrong: true });
    await ask('/v1/audio/transcriptions', { form: formOf({ model: 'none' }) });
  });
});

describe('images answer as the OpenAPI document says', { concurrency: true }, () => {
  const asked = { model: 'gpt-image-1.5', prompt: 'a coast', quality: 'low' };

  test('images are described whole, in events, by their addresses, as edits, and refused', async () => {
    for (const model of ['gpt-image-1.5', 'gemini-2.5-flash-image', 'imagen-4.0-generate-001', 'grok-imagine-image'])
      await ask('/v1/images/generations', { body: { ...asked, model } });
    const events = await ask('/v1/images/generations', { body: { ...asked, stream: true, partial_images: 1 } });
    assert.match(String(events.headers['content-type']), /event-stream/);
    await ask('/v1/images/generations', { body: { ...asked, model: 'grok-imagine-image', response_format: 'url' } });
    await ask('/v1/images/edits', { body: { ...asked, images: [{ image_url: 'https://pictures.example/a.png' }] } });
    const form = new FormData();
    for (const [name, value] of Object.entries(asked)) form.set(name, value);
    form.set('image', new File([new Uint8Array([1])], 'a.png', { type: 'image/png' }));
    await ask('/v1/images/edits', { form });
    await ask('/v1/images/generations', { body: { ...asked, n: 99 }, isWrong: true });
    await ask('/v1/images/generations', { body: asked, key: 'wrong' });
  });
});

test('metrics have separate names for audio and videos, and count a video once', async () => {
  const { weir } = running;
  const read = async () => readExposition((await call(weir.metricsUrl ?? '')).text);
  const booked = async () => sumSamples(await read(), 'weir_calls_total', { dialect: 'video-generations' });
  // A client may have its answer a moment before it is counted.
  const shown = await eventually(
    read,
    (samples) =>
      sumSamples(samples, 'weir_calls_total', { dialect: 'video-generations' }) >= 1 &&
      sumSamples(samples, 'weir_calls_total', { dialect: 'xai-videos', end: 'finished' }) >= 3 &&
      sumSamples(samples, 'weir_unbooked_calls_total', { dialect: 'video-tasks', end: 'finished' }) >= 6 &&
      sumSamples(samples, 'weir_calls_total', { dialect: 'openai-audio' }) > 10 &&
      sumSamples(samples, 'weir_refusals_total', { dialect: 'openai-audio', code: 'invalid_api_key' }) >= 1 &&
      sumSamples(samples, 'weir_calls_total', { dialect: 'openai-chat' }) >= 1,
  );
  assert.equal(sumSamples(shown, 'weir_calls_total', { dialect: 'video-generations', model: 'vendor-imagine-video', end: 'finished' }), 1);
  assert.equal(sumSamples(shown, 'weir_calls_total', { dialect: 'xai-videos', end: 'finished' }), 3);
  assert.ok(sumSamples(shown, 'weir_cost_usd_total', { dialect: 'video-generations' }) > 0);
  assert.ok(sumSamples(shown, 'weir_unbooked_calls_total', { dialect: 'video-tasks', end: 'finished' }) >= 6);
  assert.ok(sumSamples(shown, 'weir_calls_total', { dialect: 'openai-audio' }) > 10);
  assert.ok(sumSamples(shown, 'weir_refusals_total', { dialect: 'openai-audio', code: 'invalid_api_key' }) >= 1);
  // The count of the first test: audio and videos do not count as chat.
  assert.equal(sumSamples(shown, 'weir_calls_total', { dialect: 'openai-chat' }), 1);
  // A status request counts nothing.
  assert.equal(await booked(), 1);
});
