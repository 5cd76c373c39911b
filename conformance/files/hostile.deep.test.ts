import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';

import OpenAI, { toFile } from 'openai';

import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { eventually } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { commandOutput } from '../programs/run-command.ts';
import { makeDocx, makePdf } from './documents.ts';

const fileBytesMax = 4 * 1024 * 1024;

describe('hostile uploads and other users', () => {
  let weir: ServedWeir;
  let client: OpenAI;

  before(async () => {
    weir = await serveWeir({
      config: JSON.stringify({ overload: neverOverloaded, files: { fileBytesMax, userBytesMax: 12 * 1024 * 1024 } }),
    });
    client = new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey: weir.apiKey, maxRetries: 0 });
  });
  after(async () => await weir[Symbol.asyncDispose]());

  const count = (table: string): number => {
    const database = openDatabase(`${weir.dataDirectory}/weir.sqlite`, { readOnly: true, busyTimeoutMs: 5000 });
    try {
      return Number(database.first(`select count(*) as n from ${table}`)?.['n']);
    } finally {
      database.close();
    }
  };
  const post = async (body: string | FormData, type?: string): Promise<{ readonly status: number; readonly code: unknown }> => {
    const response = await fetch(`${weir.gatewayUrl}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.apiKey}`, ...(type === undefined ? {} : { 'content-type': type }) },
      body,
    });
    const answer = (await response.json()) as { readonly error?: { readonly code?: unknown } };
    return { status: response.status, code: answer.error?.code };
  };
  const form = (fields: Readonly<Record<string, string | Blob>>): FormData => {
    const made = new FormData();
    for (const [name, value] of Object.entries(fields)) made.append(name, value);
    return made;
  };

  test('invalid forms are refused and leave nothing', async () => {
    const [files, pieces] = [count('files'), count('file_pieces')];
    const blob = new Blob(['x']);
    const boundary = 'multipart/form-data; boundary=b';
    const wrong: readonly (readonly [string, string | FormData, string | undefined, number])[] = [
      ['no multipart', '{}', 'application/json', 415],
      ['no boundary', 'x', 'multipart/form-data', 415],
      ['no file', form({ purpose: 'assistants' }), undefined, 400],
      ['no purpose', form({ file: blob }), undefined, 400],
      ['a wrong purpose', form({ file: blob, purpose: 'evil' }), undefined, 400],
      [
        'a wrong expiry',
        form({ file: blob, purpose: 'assistants', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '1' }),
        undefined,
        400,
      ],
      ['a file under another name', form({ purpose: 'assistants', other: blob }), undefined, 400],
      ['no end', '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc', boundary, 400],
      ['no form at all', 'garbage', boundary, 400],
      ['an empty body', '', boundary, 400],
      ['too much', form({ purpose: 'assistants', file: new Blob([Buffer.alloc(fileBytesMax + 1)]) }), undefined, 413],
      [
        'too many fields',
        form({ ...Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, 'x'])), file: blob }),
        undefined,
        400,
      ],
    ];
    for (const [name, body, type, status] of wrong) assert.equal((await post(body, type)).status, status, name);
    assert.deepEqual([count('files'), count('file_pieces')], [files, pieces]);
  });

  test('an upload whose client disconnects leaves nothing', async () => {
    const [files, pieces] = [count('files'), count('file_pieces')];
    const { hostname, port } = new URL(weir.gatewayUrl);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/files HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${weir.apiKey}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 4000000\r\n\r\n` +
        '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n',
    );
    socket.write(Buffer.alloc(2_500_000, 'x'));
    await until(() => count('file_pieces') >= pieces + 2);
    socket.destroy();
    await until(() => count('files') === files && count('file_pieces') === pieces);
  });

  test('a user has a limited amount of storage', async () => {
    const ids: string[] = [];
    const content = Buffer.alloc(fileBytesMax, 'y');
    for (let index = 0; index < 2; index++)
      ids.push((await client.files.create({ file: await toFile(content, 'y.txt'), purpose: 'user_data' })).id);
    const more = await Promise.allSettled(
      [1, 2].map(async () => await client.files.create({ file: await toFile(content, 'y.txt'), purpose: 'user_data' })),
    );
    assert.equal(more.filter(({ status }) => status === 'rejected').length, 1, 'two simultaneous uploads do not both get the last space');
    for (const made of more) if (made.status === 'fulfilled') ids.push(made.value.id);
    for (const id of ids) await client.files.delete(id);
    assert.equal(count('file_pieces'), 0, 'the content is deleted with the files');
  });

  test('files that harm their reader fail with a message, and the gateway continues', async () => {
    const store = await client.vectorStores.create({});
    const bomb = deflateSync(Buffer.alloc(900_000_000, ' '));
    const flate = makeStreamPdf(bomb);
    const hostile: Readonly<Record<string, readonly [Buffer, string]>> = {
      'bomb.docx': [makeDocx(Buffer.alloc(300_000_000, 'a')), 'invalid_file'],
      'lying.docx': [makeDocx(Buffer.alloc(300_000_000, 'a'), 100), 'invalid_file'],
      'million.pdf': [manyPages(), 'invalid_file'],
      'bomb.pdf': [flate, 'invalid_file'],
      'torn.pdf': [makePdf(['abc']).subarray(0, 60), 'invalid_file'],
      'torn.docx': [makeDocx('abc').subarray(0, 200), 'invalid_file'],
      'image.txt': [Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]), 'unsupported_file'],
      'empty.txt': [Buffer.from(''), 'invalid_file'],
      'binary.txt': [Buffer.from([1, 0, 2, 0, 3]), 'unsupported_file'],
    };
    for (const [name, [content, code]] of Object.entries(hostile)) {
      const file = await client.vectorStores.files.uploadAndPoll(store.id, await toFile(content, name), { pollIntervalMs: 100 });
      assert.equal(file.status, 'failed', name);
      assert.equal(file.last_error?.code, code, name);
      assert.equal((await fetch(`${weir.gatewayUrl}/health`)).status, 200);
    }
    const deep = await client.vectorStores.files.uploadAndPoll(
      store.id,
      await toFile(Buffer.from(`<!doctype html>${'<div>'.repeat(50_000)}deepword`), 'deep.html'),
      { pollIntervalMs: 100 },
    );
    assert.notEqual(deep.status, 'in_progress');
    const odd = await client.vectorStores.files.uploadAndPoll(store.id, await toFile(Buffer.from('nul\u0000byte oddword'), 'odd.md'), {
      pollIntervalMs: 100,
    });
    assert.equal(odd.status, 'failed', 'NUL bytes show that a file is not text');
    const good = await client.vectorStores.files.uploadAndPoll(store.id, await toFile(Buffer.from('fine goodword'), 'good.md'), {
      pollIntervalMs: 100,
    });
    assert.equal(good.status, 'completed');
  });

  test('an object of another user has byte for byte the answer of a missing one', async () => {
    const stdout = await commandOutput(['keys', 'create', '--user', 'stranger', '--name', 'key'], { WEIR_DATA_DIR: weir.dataDirectory });
    const secret = stdout;
    const file = await client.files.create({ file: await toFile(Buffer.from('mine'), 'mine.txt'), purpose: 'assistants' });
    const store = await client.vectorStores.create({ name: 'mine' });
    const batch = await client.vectorStores.fileBatches.createAndPoll(store.id, { file_ids: [file.id] }, { pollIntervalMs: 50 });
    const mask = (id: string): string => 'z'.repeat(id.length);
    const none = { file: mask(file.id), store: mask(store.id), batch: mask(batch.id) };
    const ask = async (method: string, path: string, body: object | undefined, key: string): Promise<string> => {
      const response = await fetch(`${weir.gatewayUrl}/v1/${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return `${response.status} ${(await response.text()).replaceAll(/req_\w+/g, 'req')}`;
    };
    type Ids = typeof none;
    const asks: readonly (readonly [string, (ids: Ids) => string, ((ids: Ids) => object) | undefined])[] = [
      ['GET', ({ file: id }) => `files/${id}`, undefined],
      ['GET', ({ file: id }) => `files/${id}/content`, undefined],
      ['DELETE', ({ file: id }) => `files/${id}`, undefined],
      ['GET', ({ store: id }) => `vector_stores/${id}`, undefined],
      ['POST', ({ store: id }) => `vector_stores/${id}`, () => ({ name: 'x' })],
      ['DELETE', ({ store: id }) => `vector_stores/${id}`, undefined],
      ['POST', ({ store: id }) => `vector_stores/${id}/search`, () => ({ query: 'mine' })],
      ['GET', ({ store: id }) => `vector_stores/${id}/files`, undefined],
      ['POST', ({ store: id }) => `vector_stores/${id}/files`, (ids) => ({ file_id: ids.file })],
      ['GET', (ids) => `vector_stores/${ids.store}/files/${ids.file}`, undefined],
      ['POST', (ids) => `vector_stores/${ids.store}/files/${ids.file}`, () => ({ attributes: {} })],
      ['DELETE', (ids) => `vector_stores/${ids.store}/files/${ids.file}`, undefined],
      ['GET', (ids) => `vector_stores/${ids.store}/files/${ids.file}/content`, undefined],
      ['POST', ({ store: id }) => `vector_stores/${id}/file_batches`, (ids) => ({ file_ids: [ids.file] })],
      ['GET', (ids) => `vector_stores/${ids.store}/file_batches/${ids.batch}`, undefined],
      ['POST', (ids) => `vector_stores/${ids.store}/file_batches/${ids.batch}/cancel`, () => ({})],
      ['GET', (ids) => `vector_stores/${ids.store}/file_batches/${ids.batch}/files`, undefined],
      ['POST', () => 'vector_stores', (ids) => ({ file_ids: [ids.file] })],
    ];
    const real = { file: file.id, store: store.id, batch: batch.id };
    for (const [method, path, body] of asks) {
      const foreign = await ask(method, path(real), body?.(real), secret);
      const absent = await ask(method, path(none), body?.(none), secret);
      const hide = (answer: string): string =>
        Object.keys(none).reduce((text, key) => text.replaceAll(real[key as keyof Ids], none[key as keyof Ids]), answer);
      assert.equal(hide(foreign), absent, `${method} ${path(real)}`);
      assert.match(foreign, /^404 /, `${method} ${path(real)}`);
    }
    const own = await ask('POST', 'vector_stores', {}, secret);
    const ownStore = /"id":"(vs_\w+)"/.exec(own)?.[1] ?? assert.fail(own);
    assert.match(await ask('POST', `vector_stores/${ownStore}/files`, { file_id: file.id }, secret), /^404 /);
    assert.match(await ask('POST', `vector_stores/${ownStore}/file_batches`, { file_ids: [file.id] }, secret), /^404 /);
    assert.match(await ask('GET', 'files', undefined, secret), /"data":\[\]/);
    assert.match(await ask('GET', `files?after=${file.id}`, undefined, secret), /"data":\[\]/);
    for (const path of ['files', 'vector_stores']) assert.match(await ask('GET', path, undefined, 'no-such-key'), /^401 /);
    assert.equal((await client.vectorStores.search(store.id, { query: 'mine' })).data.length, 1, 'the other user has changed nothing');
  });
});

/** Waits for a condition. */
async function until(holds: () => boolean): Promise<void> {
  await eventually(holds, (isSo) => isSo);
}

/** One page object, named a million times. */
function manyPages(): Buffer {
  const kids = '4 0 R '.repeat(300_000);
  return makeObjects([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count 1000000 /Kids [${kids}] >>`,
    '<< >>',
    '<< /Type /Page /Parent 2 0 R >>',
  ]);
}

function makeStreamPdf(packed: Buffer): Buffer {
  const stream = `<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n${packed.toString('latin1')}\nendstream`;
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> >>';
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
  return makeObjects(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 1 /Kids [4 0 R] >>', font, page, stream]);
}

function makeObjects(objects: readonly string[]): Buffer {
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('');
  return Buffer.from(`%PDF-1.4\n${body}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\n%%EOF\n`, 'latin1');
}
