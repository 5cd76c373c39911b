import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { runCommand } from '../programs/run-command.ts';
import { type Answer, call, eventually, post } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';
import { makeWav } from '../audio/start-audio-upstream.ts';

/** A form as a client writes it: its boundary is different each time. */
function writeForm(boundary: string, fields: Readonly<Record<string, string>>, file: Buffer): Buffer {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\n`;
  return Buffer.concat([Buffer.from(parts.join('') + head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

/** Routes that are not chats: each request is executed once, whatever its body and its answer are. */
describe('Idempotency-Key beside chats', () => {
  let running: SimulatedWeir;
  before(async () => {
    running = await startSimulatedGateway();
  });
  after(() => running[Symbol.asyncDispose]());

  const base = () => `${running.weir.gatewayUrl}/v1`;
  const auth = () => ({ authorization: `Bearer ${running.weir.apiKey}` });
  const requestsOf = (tag: string) => running.simulator.records().filter((record) => record.tag === tag);
  const assertReplayed = (again: Answer, first: Answer): void => {
    assert.ok(first.status < 300, first.text);
    assert.deepEqual([again.status, again.text], [first.status, first.text]);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.equal(again.headers['x-weir-request-id'], first.headers['x-weir-request-id']);
  };
  const assertConflict = (answer: Answer): void =>
    assert.deepEqual([answer.status, answer.json?.error?.code], [409, 'idempotency_conflict']);

  const bodies: readonly { readonly path: string; readonly body: Readonly<Record<string, unknown>>; readonly calls: number }[] = [
    { path: '/audio/speech', body: { model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'hello' }, calls: 1 },
    { path: '/audio/speech', body: { model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'hello', stream_format: 'sse' }, calls: 1 },
    { path: '/embeddings', body: { model: 'text-embedding-3-small', input: 'hello' }, calls: 1 },
    { path: '/responses', body: { model: 'gpt-5-mini', input: 'hello', background: true }, calls: 1 },
    { path: '/responses', body: { model: 'gpt-5-mini', input: 'hello', background: true, stream: true }, calls: 1 },
    { path: '/conversations', body: { metadata: { a: 'b' } }, calls: 0 },
    { path: '/vector_stores', body: { name: 'mine' }, calls: 0 },
    { path: '/messages/count_tokens', body: { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'hello' }] }, calls: 1 },
  ];
  for (const [index, { path, body, calls }] of bodies.entries())
    test(`POST ${path} ${JSON.stringify(body).slice(0, 80)} is executed once`, async () => {
      const key = `route-${index}`;
      const send = (more: object = {}) =>
        post(
          `${base()}${path}`,
          { ...body, ...more },
          { ...auth(), 'anthropic-version': '2023-06-01', 'idempotency-key': key, 'x-simulator-tag': key },
        );
      const first = await send();
      assertReplayed(await send(), first);
      assertConflict(await send({ another: 1 }));
      await eventually(
        () => requestsOf(key).length,
        (count) => count >= calls,
      );
      assert.equal(requestsOf(key).length, calls);
    });

  test('a request without a body is executed once', async () => {
    const send = () => call(`${base()}/vector_stores`, { method: 'POST', headers: { ...auth(), 'idempotency-key': 'empty' } });
    const first = await send();
    assertReplayed(await send(), first);
  });

  test('a form is recognised by its parts, whatever its boundary is, and however it is split', async () => {
    const wav = makeWav(1);
    const fields = { model: 'gpt-4o-mini-transcribe', language: 'en' };
    const send = (boundary: string, given: Readonly<Record<string, string>> = fields, file = wav) =>
      call(`${base()}/audio/transcriptions`, {
        headers: {
          ...auth(),
          'content-type': `multipart/form-data; boundary=${boundary}`,
          'idempotency-key': 'form',
          'x-simulator-tag': 'form',
        },
        body: writeForm(boundary, given, file),
      });
    const first = await send('first');
    assertReplayed(await send('----------a-longer-one'), first);
    assertConflict(await send('first', { ...fields, language: 'de' }));
    assertConflict(await send('first', fields, Buffer.concat([wav.subarray(0, -1), Buffer.of(7)])));
    assert.equal(requestsOf('form').length, 1);
  });

  test('a file is uploaded once', async () => {
    const send = (boundary: string) =>
      call(`${base()}/files`, {
        headers: { ...auth(), 'content-type': `multipart/form-data; boundary=${boundary}`, 'idempotency-key': 'file' },
        body: writeForm(boundary, { purpose: 'user_data' }, Buffer.from('x'.repeat(300_000))),
      });
    const first = await send('one');
    assertReplayed(await send('two'), first);
    const listed = await call(`${base()}/files`, { headers: auth() });
    assert.equal(listed.json.data.length, 1);
  });

  test('a video is ordered once', async () => {
    const wish = { model: 'grok-imagine-video', prompt: 'a cat', duration: 5 };
    const send = (more: object = {}) =>
      post(`${base()}/video/generations`, { ...wish, ...more }, { ...auth(), 'idempotency-key': 'video' });
    const first = await send();
    assert.ok(first.status < 300, first.text);
    const again = await send();
    assert.equal(again.json.id ?? again.json.task_id, first.json.id ?? first.json.task_id);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assertConflict(await send({ prompt: 'a dog' }));
  });

  test('a caller without any balance left still gets the video that was made for it', async () => {
    const made = ['keys', 'create', '--user', 'spender', '--name', 'last', '--spend-total', '0.10'];
    const key = (await runCommand(made, { WEIR_DATA_DIR: running.weir.dataDirectory })).stdout.trim();
    const wish = { model: 'grok-imagine-video', prompt: 'a cat', duration: 2 };
    const send = (name: string, more: object = {}) =>
      post(`${base()}/video/generations`, { ...wish, ...more }, { authorization: `Bearer ${key}`, 'idempotency-key': name });
    const first = await eventually(
      () => send('spender'),
      ({ status }) => status !== 401,
    );
    assert.ok(first.status < 300, first.text);
    const refused = await send('another');
    assert.deepEqual([refused.status, refused.json.error.code], [429, 'insufficient_quota']);
    const again = await send('spender');
    assert.deepEqual([again.status, again.json.id], [first.status, first.json.id], again.text);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assertConflict(await send('spender', { prompt: 'a dog' }));
  });

  test('a GET ignores the key', async () => {
    const answer = await call(`${base()}/models`, { headers: { ...auth(), 'idempotency-key': 'x'.repeat(300) } });
    assert.equal(answer.status, 200);
  });
});
