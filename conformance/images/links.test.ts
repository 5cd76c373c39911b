import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { APIError } from 'openai';

import { runCommand } from '../programs/run-command.ts';
import { type ImageWeir, kindOf, startImageWeir } from './image-weir.ts';

let running: ImageWeir;
before(async () => {
  running = await startImageWeir({ config: { images: { linkHours: 2 } } });
});
after(() => running[Symbol.asyncDispose]());

async function make(model: string, key?: string): Promise<string> {
  const created = await running.client(key).images.generate({ model, prompt: 'a coast', response_format: 'url' });
  assert.equal(created.data?.[0]?.b64_json, undefined);
  return created.data?.[0]?.url ?? assert.fail('no address');
}

async function createKey(user: string, ...options: readonly string[]): Promise<string> {
  const command = ['keys', 'create', '--user', user, '--name', 'links', ...options];
  const { stdout } = await runCommand(command, { WEIR_DATA_DIR: running.weir.dataDirectory });
  return stdout.trim();
}

describe('addresses of images whose models return bytes', () => {
  for (const [model, type] of [
    ['gpt-image-1.5', 'image/png'],
    ['gemini-2.5-flash-image', 'image/png'],
    ['imagen-4.0-generate-001', 'image/png'],
  ] as const)
    test(`${model}: a link opens the image without a key for two hours`, async () => {
      const url = await make(model);
      assert.ok(url.startsWith(`${running.weir.gatewayUrl}/v1/images/picture_`), url);
      const hours = (Number(new URL(url).searchParams.get('expires')) - Date.now() / 1000) / 3600;
      assert.ok(hours > 1.9 && hours <= 2.001, `${hours} h`);
      const answer = await fetch(url);
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, type]);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      const bytes = Buffer.from(await answer.arrayBuffer());
      assert.equal(kindOf(bytes.toString('base64')), 'png');
      assert.equal(answer.headers.get('content-length'), String(bytes.length));
    });

  test('HEAD, Range and conditions work', async () => {
    const url = await make('gpt-image-1.5');
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    const head = await fetch(url, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(whole.length)]);
    const part = await fetch(url, { headers: { range: 'bytes=1-3' } });
    assert.deepEqual([part.status, await part.text()], [206, 'PNG']);
    assert.equal((await fetch(url, { headers: { range: 'bytes=99999999-' } })).status, 416);
    assert.equal((await fetch(url, { headers: { 'if-none-match': String(head.headers.get('etag')) } })).status, 304);
  });

  test('a link that was changed, or is for another image, opens nothing, with a key or without', async () => {
    const [one, other] = [new URL(await make('gpt-image-1.5')), new URL(await make('gpt-image-1.5'))];
    const later = new URL(one);
    later.searchParams.set('expires', String(Number(one.searchParams.get('expires')) + 3600));
    const crossed = new URL(one);
    crossed.search = other.search;
    const bare = new URL(one);
    bare.search = '';
    const unknown = new URL(one);
    unknown.pathname = '/v1/images/picture_00000000000000000000000000/content';
    for (const url of [later, crossed, bare, unknown])
      for (const headers of [{}, { authorization: `Bearer ${running.weir.apiKey}` }]) {
        const answer = await fetch(url, { headers });
        assert.equal(answer.status, 404, url.href);
        assert.match(await answer.text(), /the link is invalid or has expired/);
      }
  });

  test('several images have a link each, and the only warning is about their storage here', async () => {
    const asked = { model: 'gpt-image-1.5', prompt: 'x', n: 2, response_format: 'url' } as const;
    const { data, response } = await running.client().images.generate(asked).withResponse();
    const urls = (data.data ?? []).map(({ url = '' }) => url);
    assert.equal(new Set(urls).size, 2);
    for (const url of urls) assert.equal((await fetch(url)).status, 200);
    assert.match(String(response.headers.get('x-gateway-warning')), /^[^,]*emulated response_format[^,]*$/);
  });

  test('a stream of a model that returns bytes has no addresses, and says so', async () => {
    for (const model of ['gpt-image-1.5', 'gemini-2.5-flash-image'])
      await assert.rejects(
        running.client().images.generate({ model, prompt: 'x', response_format: 'url', stream: true }),
        (error) => error instanceof APIError && error.status === 400 && error.param === 'response_format',
      );
  });

  test('files count towards the quota: a key with a full quota gets bytes, and no further addresses', async () => {
    const key = await createKey('full', '--media-bytes', '10');
    await make('gpt-image-1.5', key);
    await assert.rejects(make('gpt-image-1.5', key), (error) => error instanceof APIError && error.status === 403);
    const created = await running.client(key).images.generate({ model: 'gpt-image-1.5', prompt: 'x' });
    assert.equal(kindOf(created.data?.[0]?.b64_json), 'png');
    const linked = await running.client(key).images.generate({ model: 'grok-imagine-image', prompt: 'x', response_format: 'url' });
    assert.match(linked.data?.[0]?.url ?? '', /^http:/, 'the vendor stores its own files');
  });

  test('a repeated request with an idempotency key returns the same link and makes no second image', async () => {
    const body = { model: 'gpt-image-1.5', prompt: 'once', response_format: 'url' } as const;
    const options = { headers: { 'idempotency-key': 'links-1' } };
    const before = running.simulator.records().length;
    const [first, second] = [await running.client().images.generate(body, options), await running.client().images.generate(body, options)];
    assert.equal(first.data?.[0]?.url, second.data?.[0]?.url);
    assert.equal(running.simulator.records().length, before + 1);
    assert.equal((await fetch(first.data?.[0]?.url ?? '')).status, 200);
  });

  test('a quote lists the emulated features, as the call does', async () => {
    const body = { path: '/v1/images/generations', body: { model: 'gpt-image-1.5', prompt: 'x', response_format: 'url' } };
    const answer = await fetch(`${running.weir.gatewayUrl}/v1/quote`, {
      method: 'POST',
      headers: { authorization: `Bearer ${running.weir.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    assert.match(text, /response_format/);
  });
});

test('an image in a private network is refused with its field', async () => {
  const body = { model: 'gpt-image-1.5', prompt: 'x', images: [{ image_url: 'http://127.0.0.1/a.png' }] };
  await assert.rejects(
    running.client().post('/images/edits', { body }),
    (error) => error instanceof APIError && error.status === 400 && error.param === 'images[0].image_url',
  );
});
