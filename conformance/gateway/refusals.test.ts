import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { call, post, rawExchange } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

/** Refusals and their formats, on every chat interface of a running gateway. */
/** A field of each interface that the model of another cannot express. */
const lossyFields = {
  'anthropic-messages': { top_k: 3 },
  'openai-responses': { top_logprobs: 3 },
  'openai-chat': { seed: 3 },
  'gemini-generate-content': { generationConfig: { seed: 3 } },
} as const;

describe('refusals', () => {
  let weir: ServedWeir;
  let auth: Record<string, string>;
  before(async () => {
    weir = await serveWeir({ monitor: false, config: JSON.stringify({ overload: neverOverloaded }) });
    auth = { authorization: `Bearer ${weir.apiKey}` };
  });
  after(() => weir[Symbol.asyncDispose]());

  for (const api of chatInterfaces) {
    describe(api.dialect, () => {
      const url = (): string => `${weir.gatewayUrl}${api.path(api.model)}`;
      const json = { 'content-type': 'application/json', ...api.headers };
      const good = (): string => JSON.stringify(api.body(api.model, 'Hello'));
      const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
        call(url(), { method: 'POST', headers: { ...json, ...auth, ...headers }, body });

      test('a valid call is answered', async () => {
        const answer = await send(good());
        assert.equal(answer.status, 200, answer.text);
        assert.match(String(answer.headers['x-weir-request-id']), /^req_[0-9a-z]{26}$/);
      });

      const broken: readonly [name: string, body: () => string | Buffer, status: number, words: RegExp][] = [
        ['invalid JSON', () => '{"model": ', 400, /JSON|ended|incomplete/i],
        ['an empty body', () => '', 400, /empty/],
        ['an array', () => '[]', 400, /object/],
        ['trailing garbage', () => `${good()} x`, 400, /JSON|expected|after/i],
        ['a body nested too deeply', () => `{"model":"${api.model}","x":${'['.repeat(500)}${']'.repeat(500)}}`, 400, /nested|deep/i],
        ['a duplicate key', () => good().replace('{', '{"a":1,"\\u0061":2,'), 400, /"a"|twice|duplicate/i],
        ['invalid UTF-8', () => Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, /UTF-8/i],
        ['a body that is too large', () => `{"x":"${'a'.repeat(33 * 1024 * 1024)}"}`, 413, /33554432|large/],
      ];
      for (const [name, body, status, words] of broken) {
        test(`${name} is refused in this dialect`, async () => {
          const answer = await send(body());
          assert.equal(answer.status, status, answer.text);
          assert.match(answer.json?.error?.message ?? '', words);
          assert.ok(api.errorType(answer.json), 'the dialect names the kind of error');
        });
      }

      test('an unknown model with a similar name gets a suggestion, and a dissimilar one does not', async () => {
        for (const [asked, hint] of [
          [`${api.model}s`, `did you mean ${api.model}?`],
          [`some-vendor/${api.model}`, `did you mean ${api.model}?`],
          ['no-such-thing', undefined],
        ] as const) {
          const body = JSON.stringify(api.body(asked, 'Hello'));
          const answer = await call(`${weir.gatewayUrl}${api.path(encodeURIComponent(asked))}`, {
            method: 'POST',
            headers: { ...json, ...auth },
            body,
          });
          assert.equal(answer.status, api.unknownModelStatus, answer.text);
          const message = String(answer.json?.error?.message);
          if (hint === undefined) assert.doesNotMatch(message, /did you mean/);
          else assert.ok(message.includes(hint), message);
        }
      });

      test('a path that results from a wrong base address gets the right one as suggestion', async () => {
        const path = api.path(api.model);
        const bare = path.replace(/^\/v1(?:beta)?/, '');
        for (const wrong of [`/v1${path}`, bare, `/api${path}`]) {
          const answer = await call(`${weir.gatewayUrl}${wrong}`, { method: 'POST', headers: { ...json, ...auth }, body: good() });
          assert.equal(answer.status, 404, answer.text);
          assert.match(answer.json?.error?.message ?? '', new RegExp(`did you mean ${RegExp.escape(path)}\\?`));
        }
      });

      test('a truncated body has no effect', async () => {
        const path = api.path(api.model);
        const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${weir.apiKey}\r\ncontent-type: application/json\r\nanthropic-version: 2023-06-01\r\ncontent-length: 500\r\n\r\n{"model":`;
        const text = await rawExchange(weir.gatewayUrl, head, { end: true, limitMs: 2000 });
        assert.doesNotMatch(text, /^HTTP\/1\.1 200/);
      });

      test('a wrong content type is a 415 that names the right one', async () => {
        const answer = await call(url(), {
          method: 'POST',
          headers: { ...api.headers, ...auth, 'content-type': 'text/plain' },
          body: good(),
        });
        assert.equal(answer.status, 415);
        assert.match(answer.json.error.message, /application\/json.*text\/plain/);
      });

      test('compressed requests are read, and a small one cannot become a huge one', async () => {
        for (const [coding, bytes] of [
          ['gzip', gzipSync(good())],
          ['deflate', deflateSync(good())],
          ['br', brotliCompressSync(good())],
          ['zstd', zstdCompressSync(good())],
        ] as const) {
          assert.equal((await send(bytes, { 'content-encoding': coding })).status, 200, coding);
        }
        assert.equal((await send(gzipSync(Buffer.alloc(40 * 1024 * 1024, 0x20)), { 'content-encoding': 'gzip' })).status, 413);
        assert.equal((await send(good(), { 'content-encoding': 'gzip' })).status, 400);
        const unknown = await send(good(), { 'content-encoding': 'compress' });
        assert.equal(unknown.status, 415);
        assert.match(unknown.json.error.message, /gzip/);
      });

      test('an unknown model is refused with the status of this dialect', async () => {
        const model = 'no-such-model';
        const answer = await post(`${weir.gatewayUrl}${api.path(model)}`, api.body(model, 'Hello'), { ...api.headers, ...auth });
        assert.equal(answer.status, api.unknownModelStatus);
        assert.match(answer.json.error.message, /no-such-model/);
      });

      test('a field that a model of another interface cannot express is refused by its name if losses are forbidden', async () => {
        const other = api.dialect === 'anthropic-messages' ? 'gpt-5-mini' : 'claude-sonnet-4-5';
        const lossy = { ...api.body(other, 'Hello'), ...lossyFields[api.dialect] };
        const answer = await post(`${weir.gatewayUrl}${api.path(other)}`, lossy, { ...api.headers, ...auth, 'x-weir-strict': 'true' });
        assert.equal(answer.status, 400, answer.text);
        assert.match(answer.json.error.message, /top_k|seed|top_logprobs/);
      });

      test('missing, wrong and contradictory credentials are refused', async () => {
        const bare = await call(url(), { method: 'POST', headers: json, body: good() });
        assert.equal(bare.status, 401);
        assert.match(bare.json.error.message, /API key/);
        const wrong = await call(url(), { method: 'POST', headers: { ...json, authorization: 'Bearer sk-weir-wrong' }, body: good() });
        assert.equal(wrong.status, 401);
        assert.doesNotMatch(wrong.text, /sk-weir-wrong/);
        const two = await call(`${url()}${url().includes('?') ? '&' : '?'}key=another-key`, {
          method: 'POST',
          headers: { ...json, ...auth },
          body: good(),
        });
        assert.equal(two.status, 401);
        const repeated = `POST ${api.path(api.model)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${weir.apiKey}\r\nauthorization: Bearer other-key\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}`;
        assert.match(await rawExchange(weir.gatewayUrl, repeated), /^HTTP\/1\.1 401/);
      });

      test('a key is accepted in every place', async () => {
        const carriers: Record<string, string>[] = [auth, { 'x-api-key': weir.apiKey }, { 'x-goog-api-key': weir.apiKey }];
        for (const carrier of carriers)
          assert.equal((await call(url(), { method: 'POST', headers: { ...json, ...carrier }, body: good() })).status, 200);
        const query = await call(`${url()}?key=${weir.apiKey}`, { method: 'POST', headers: json, body: good() });
        assert.equal(query.status, 200);
        const same = await call(`${url()}?key=${weir.apiKey}`, { method: 'POST', headers: { ...json, ...auth }, body: good() });
        assert.equal(same.status, 200, 'the same key twice is one credential');
      });

      test('a wrong method gets the allowed methods', async () => {
        const answer = await call(url(), { method: 'PUT', headers: { ...json, ...auth }, body: good() });
        assert.equal(answer.status, 405);
        assert.match(String(answer.headers['allow']), /POST/);
        assert.ok(api.errorType(answer.json));
        const read = await call(url(), { method: 'GET', headers: auth });
        assert.deepEqual([read.status, read.headers['allow']], [405, 'POST']);
        assert.ok(api.errorType(read.json));
      });
    });
  }

  test('an unknown route is a 404 in the format of its interface', async () => {
    assert.equal((await post(`${weir.gatewayUrl}/v1/messages/unknown`, {}, auth)).json.type, 'error');
    assert.equal((await post(`${weir.gatewayUrl}/v1beta/models/gemini-2.5-flash:unknown`, {}, auth)).json.error.status, 'NOT_FOUND');
    const upload = await post(`${weir.gatewayUrl}/upload/v1beta/files?key=${weir.apiKey}`, {});
    assert.deepEqual([upload.status, upload.json.error.code, upload.json.error.status], [404, 404, 'NOT_FOUND']);
    assert.match(upload.json.error.message, /inlineData/);
    const other = await post(`${weir.gatewayUrl}/v1/nothing`, {}, auth);
    assert.equal(other.status, 404);
    assert.equal(other.json.error.type, 'invalid_request_error');
  });

  test('a WebSocket request is answered with 426 at once on routes without WebSockets', async () => {
    const attempt = `GET /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    const text = await rawExchange(weir.gatewayUrl, attempt);
    assert.match(text, /^HTTP\/1\.1 426 /);
    assert.match(text, /"error"/);
  });

  test('probes with HEAD are answered', async () => {
    for (const [path, status] of [
      ['/', 200],
      ['/health', 200],
      ['/api/hello', 404],
    ] as const) {
      const text = await rawExchange(weir.gatewayUrl, `HEAD ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), path);
    }
  });

  test('an absolute-form target and bytes that are not HTTP are refused', async () => {
    assert.match(
      await rawExchange(weir.gatewayUrl, 'GET http://other.example/v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
      /^HTTP\/1\.1 400/,
    );
    assert.match(await rawExchange(weir.gatewayUrl, 'nonsense\r\n\r\n'), /^HTTP\/1\.1 400/);
  });

  test('model lists answer in the format of the caller', async () => {
    const list = (path: string, headers: Record<string, string> = {}) =>
      call(`${weir.gatewayUrl}${path}`, { headers: { ...auth, ...headers } });
    const openai = await list('/v1/models');
    assert.equal(openai.json.object, 'list');
    const anthropic = await list('/v1/models?limit=2', { 'anthropic-version': '2023-06-01' });
    assert.equal(anthropic.json.data.length, 2);
    assert.equal(anthropic.json.data[0].type, 'model');
    assert.equal(anthropic.json.has_more, true);
    const next = await list(`/v1/models?limit=2&after_id=${anthropic.json.last_id}`, { 'anthropic-version': '2023-06-01' });
    assert.notEqual(next.json.first_id, anthropic.json.first_id);
    const gemini = await list('/v1beta/models?pageSize=1');
    assert.match(gemini.json.models[0].name, /^models\/gemini/);
    assert.ok(gemini.json.nextPageToken);
    assert.equal((await list('/v1/models/gpt-5-mini')).json.id, 'gpt-5-mini');
    assert.equal((await list('/v1beta/models/gemini-2.5-flash')).json.name, 'models/gemini-2.5-flash');
    assert.equal((await list('/v1/models/none-such')).status, 404);
    assert.equal((await call(`${weir.gatewayUrl}/v1/models`)).status, 401);
  });
});
