import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { APIError, toFile } from 'openai';

import { eventually } from '../support/http.ts';
import { type ImageWeir, kindOf, onePixel, startImageWeir } from './image-weir.ts';

const mebibyte = 1024 * 1024;
const model = 'gpt-image-1.5';

describe('forms with images', () => {
  let running: ImageWeir;
  const spooled = (): readonly string[] => readdirSync(join(running.weir.dataDirectory, 'uploads'));
  const padded = (bytes: number) =>
    toFile(Buffer.concat([onePixel, Buffer.alloc(bytes - onePixel.length)]), 'a.png', { type: 'image/png' });

  before(async () => {
    running = await startImageWeir({ config: { images: { uploadBytesMax: 40 * mebibyte } } });
  });
  after(() => running[Symbol.asyncDispose]());

  test('a form may be larger than a JSON request, and leaves nothing on the disk', async () => {
    const image = [await padded(39 * mebibyte), await padded(1000)];
    const { data, response } = await running.client().images.edit({ model, prompt: 'bluer', image }).withResponse();
    assert.equal(kindOf(data.data?.[0]?.b64_json), 'png');
    const row = await running.ledger.row(String(response.headers.get('x-weir-request-id')));
    assert.equal(row.end, 'finished');
    assert.deepEqual(spooled(), []);
  });

  test('a model whose vendor accepts JSON has a lower limit, which the refusal names', async () => {
    const image = await padded(33 * mebibyte);
    await assert.rejects(running.client().images.edit({ model: 'gemini-2.5-flash-image', prompt: 'x', image }), (error) => {
      assert.ok(error instanceof APIError && error.status === 400 && error.param === 'image', String(error));
      assert.match(error.message, /accepts at most 33554432/);
      return true;
    });
    const small = await padded(2 * mebibyte);
    const created = await running.client().images.edit({ model: 'gemini-2.5-flash-image', prompt: 'x', image: small });
    assert.equal(kindOf(created.data?.[0]?.b64_json), 'png');
  });

  test('a file that is too large is 413 with its field, and nothing reaches the upstream', async () => {
    const before = running.simulator.records().length;
    await assert.rejects(
      running.client().images.edit({ model, prompt: 'x', image: await padded(onePixel.length), mask: await padded(41 * mebibyte) }),
      (error) => error instanceof APIError && error.status === 413 && error.param === 'mask',
    );
    assert.equal(running.simulator.records().length, before);
  });

  test('an invalid form is refused with its field', async () => {
    const post = (form: FormData): Promise<Response> =>
      fetch(`${running.weir.gatewayUrl}/v1/images/edits`, {
        method: 'POST',
        headers: { authorization: `Bearer ${running.weir.apiKey}` },
        body: form,
      });
    const formOf = (pictures: number): FormData => {
      const form = new FormData();
      form.set('model', model);
      form.set('prompt', 'x');
      for (let index = 0; index < pictures; index += 1) form.append('image[]', new File([onePixel], 'a.png', { type: 'image/png' }));
      return form;
    };
    const bare = formOf(1);
    bare.set('mask', 'no file');
    for (const [form, words] of [
      [formOf(17), /at most 16 images/],
      [formOf(40), /too many parts/],
      [bare, /Invalid 'mask': expected a file with a filename/],
    ] as const) {
      const answer = await post(form);
      const text = await answer.text();
      assert.equal(answer.status, 400, text);
      assert.match(text, words);
    }
  });

  test('a compressed form is read', async () => {
    const form = new FormData();
    form.set('model', model);
    form.set('prompt', 'x');
    form.set('image', new File([onePixel], 'a.png', { type: 'image/png' }));
    const plain = new Response(form);
    const headers = {
      authorization: `Bearer ${running.weir.apiKey}`,
      'content-type': String(plain.headers.get('content-type')),
      'content-encoding': 'gzip',
    };
    const body = gzipSync(await plain.bytes());
    const answer = await fetch(`${running.weir.gatewayUrl}/v1/images/edits`, { method: 'POST', headers, body });
    assert.equal(answer.status, 200, await answer.text());
  });

  test('a client that disconnects during the upload leaves no file and no call', async () => {
    const calls = running.simulator.records().length;
    const url = new URL(running.weir.gatewayUrl);
    const socket = connect(Number(url.port), url.hostname);
    socket.on('error', () => {});
    const head = [
      'POST /v1/images/edits HTTP/1.1',
      'host: x',
      `authorization: Bearer ${running.weir.apiKey}`,
      'content-type: multipart/form-data; boundary=b0undary',
      'content-length: 20000000',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.write('--b0undary\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n');
    await new Promise<void>((resolve) => socket.write(Buffer.alloc(2_000_000, 1), () => resolve()));
    socket.destroy();
    await eventually(
      () => Promise.resolve(spooled()),
      ({ length }) => length === 0,
    );
    assert.equal(running.simulator.records().length, calls);
  });
});
