import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI, { toFile } from 'openai';

import { serveWeir } from '../support/serve-weir.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { makeDocx, makePdf } from './documents.ts';

describe("files and vector stores with the vendor's SDK", () => {
  let weir: ServedWeir;
  let client: OpenAI;

  before(async () => {
    weir = await serveWeir({ monitor: false, config: JSON.stringify({ overload: neverOverloaded }) });
    client = new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey: weir.apiKey, maxRetries: 0 });
  });
  after(async () => await weir[Symbol.asyncDispose]());

  const upload = async (name: string, content: string | Buffer) =>
    await client.files.create({ file: await toFile(Buffer.from(content), name), purpose: 'assistants' });

  test('a file is uploaded, listed, read back byte for byte and deleted', async () => {
    const content = Buffer.from(Array.from({ length: 3_200_000 }, (_, index) => index % 251));
    const file = await upload('räume.bin', content);
    assert.equal(file.bytes, content.length);
    assert.equal(file.filename, 'räume.bin');
    assert.equal(file.purpose, 'assistants');
    assert.deepEqual(await client.files.retrieve(file.id), file);
    const back = Buffer.from(await (await client.files.content(file.id)).arrayBuffer());
    assert.ok(back.equals(content));
    const listed = [];
    for await (const item of client.files.list({ purpose: 'assistants' })) listed.push(item.id);
    assert.ok(listed.includes(file.id));
    assert.deepEqual(await client.files.delete(file.id), { id: file.id, object: 'file', deleted: true });
    await assert.rejects(client.files.retrieve(file.id), OpenAI.NotFoundError);
    await assert.rejects(client.files.content(file.id), OpenAI.NotFoundError);
  });

  test('a file with an expiry says when it expires', async () => {
    const file = await client.files.create({
      file: await toFile(Buffer.from('x'), 'x.txt'),
      purpose: 'user_data',
      expires_after: { anchor: 'created_at', seconds: 3600 },
    });
    assert.equal(file.expires_at, file.created_at + 3600);
  });

  test('documents of every kind are found by their content', async () => {
    const store = await client.vectorStores.create({ name: 'kinds', metadata: { team: 'a' } });
    const contents: Readonly<Record<string, string | Buffer>> = {
      'a.md': '# Giraffes\n\nThe giraffe eats acacia leaves.',
      'b.html': '<!doctype html><title>t</title><script>var hidden="secretword"</script><p>The okapi lives in <b>rain</b>forests.</p>',
      'c.csv': 'animal,food\npangolin,ants\n',
      'd.json': '{"animal":"quokka","mood":"smiling"}',
      'e.ts': 'export function countNarwhals(): number { return 7; }',
      'f.pdf': makePdf(['The axolotl regrows its limbs.', 'Second page about capybaras.']),
      'g.docx': makeDocx('The tarsier has very large eyes.'),
      'h.txt': '东京都的天气很好。北京大学在海淀区。',
      'i.txt': '서울에서 부산까지 기차를 탔다.',
    };
    for (const [name, content] of Object.entries(contents)) {
      const file = await client.vectorStores.files.uploadAndPoll(store.id, await toFile(Buffer.from(content), name), {
        pollIntervalMs: 50,
      });
      assert.equal(file.status, 'completed', `${name}: ${JSON.stringify(file.last_error)}`);
      assert.ok(file.usage_bytes > 0);
    }
    const find = async (query: string): Promise<string | undefined> =>
      (await client.vectorStores.search(store.id, { query })).data[0]?.filename;
    const wanted = {
      'what do giraffes eat': 'a.md',
      okapis: 'b.html',
      'pangolin food': 'c.csv',
      quokka: 'd.json',
      countNarwhals: 'e.ts',
      capybaras: 'f.pdf',
      'eyes of the tarsier': 'g.docx',
      北京大学: 'h.txt',
      서울: 'i.txt',
    };
    for (const [query, name] of Object.entries(wanted)) assert.equal(await find(query), name, query);
    assert.equal(await find('secretword'), undefined, 'scripts are not text');
    const shown = await client.vectorStores.retrieve(store.id);
    assert.equal(shown.status, 'completed');
    assert.deepEqual(shown.file_counts, { in_progress: 0, completed: 9, failed: 0, cancelled: 0, total: 9 });
    assert.deepEqual(shown.metadata, { team: 'a' });
  });

  test('batches: polling helpers, attributes, filters, thresholds and cancelling', async () => {
    const store = await client.vectorStores.create({ name: 'batch' });
    const files = await Promise.all(['red', 'green', 'blue'].map((color) => upload(`${color}.txt`, `The ${color} house is a house.`)));
    const batch = await client.vectorStores.fileBatches.createAndPoll(
      store.id,
      { files: files.map((file, index) => ({ file_id: file.id, attributes: { year: 2000 + index, color: file.filename } })) },
      { pollIntervalMs: 50 },
    );
    assert.equal(batch.status, 'completed');
    assert.equal(batch.file_counts.completed, 3);
    const years = async (filters: OpenAI.ComparisonFilter | OpenAI.CompoundFilter): Promise<readonly unknown[]> =>
      (await client.vectorStores.search(store.id, { query: 'house', filters })).data
        .map((found) => Number(found.attributes?.['year']))
        .toSorted((left, right) => left - right);
    assert.deepEqual(await years({ type: 'gte', key: 'year', value: 2001 }), [2001, 2002]);
    assert.deepEqual(await years({ type: 'ne', key: 'year', value: 2001 }), [2000, 2002]);
    assert.deepEqual(
      await years({
        type: 'or',
        filters: [
          { type: 'eq', key: 'color', value: 'red.txt' },
          {
            type: 'and',
            filters: [
              { type: 'gt', key: 'year', value: 2000 },
              { type: 'lt', key: 'year', value: 2002 },
            ],
          },
        ],
      }),
      [2000, 2001],
    );
    const best = await client.vectorStores.search(store.id, { query: ['blue', 'green house'], max_num_results: 2 });
    assert.deepEqual(new Set(best.data.map((found) => found.filename)), new Set(['blue.txt', 'green.txt']));
    assert.ok(best.data.every((found) => found.score > 0 && found.score <= 1));
    const strict = await client.vectorStores.search(store.id, { query: 'blue house', ranking_options: { score_threshold: 1 } });
    assert.equal(strict.data.length, 1);
    const listed = [];
    for await (const file of client.vectorStores.fileBatches.listFiles(batch.id, { vector_store_id: store.id, limit: 2 }))
      listed.push(file.id);
    assert.deepEqual(new Set(listed), new Set(files.map((file) => file.id)));
    const uploaded = await client.vectorStores.fileBatches.uploadAndPoll(
      store.id,
      { files: [await toFile(Buffer.from('one yellow house'), 'one.txt'), await toFile(Buffer.from('two'), 'two.txt')] },
      { pollIntervalMs: 50 },
    );
    assert.equal(uploaded.file_counts.completed, 2);
    const [first] = files;
    assert.ok(first !== undefined);
    const changed = await client.vectorStores.files.update(first.id, { vector_store_id: store.id, attributes: { year: 1900 } });
    assert.deepEqual(changed.attributes, { year: 1900 });
    assert.deepEqual(await years({ type: 'lt', key: 'year', value: 1950 }), [1900]);
    const text = [];
    for await (const part of client.vectorStores.files.content(first.id, { vector_store_id: store.id })) text.push(part.text);
    assert.deepEqual(text, ['The red house is a house.']);
    await client.vectorStores.files.delete(first.id, { vector_store_id: store.id });
    assert.deepEqual(await years({ type: 'lt', key: 'year', value: 1950 }), []);
    assert.equal((await client.files.retrieve(first.id)).id, first.id, 'the file itself remains');
    const cancelled = await client.vectorStores.fileBatches.create(store.id, { file_ids: [first.id] });
    assert.equal((await client.vectorStores.fileBatches.cancel(cancelled.id, { vector_store_id: store.id })).status, 'cancelled');
  });

  test('a store is changed, listed and deleted with its index', async () => {
    const store = await client.vectorStores.create({ name: 'before', expires_after: { anchor: 'last_active_at', days: 3 } });
    assert.deepEqual(store.expires_after, { anchor: 'last_active_at', days: 3 });
    const changed = await client.vectorStores.update(store.id, { name: 'after', expires_after: null });
    assert.equal(changed.name, 'after');
    assert.equal(changed.expires_at, null);
    const listed = [];
    for await (const item of client.vectorStores.list({ limit: 1 })) listed.push(item.id);
    assert.ok(listed.includes(store.id));
    assert.deepEqual(await client.vectorStores.delete(store.id), { id: store.id, object: 'vector_store.deleted', deleted: true });
    await assert.rejects(client.vectorStores.search(store.id, { query: 'x' }), OpenAI.NotFoundError);
  });

  test('queries are words and never operators of the index', async () => {
    const store = await client.vectorStores.create({});
    await client.vectorStores.files.uploadAndPoll(store.id, await toFile(Buffer.from('plain words'), 'p.txt'), { pollIntervalMs: 50 });
    for (const query of [
      '" OR scope:*',
      'NEAR(a b)',
      'words AND NOT',
      'a*',
      '^"',
      "'); drop table chunks; --",
      '\u0000',
      '{scope} : x',
      '😀',
      '-',
    ]) {
      await client.vectorStores.search(store.id, { query });
    }
    assert.equal((await client.vectorStores.search(store.id, { query: 'words" OR "' })).data.length, 1);
  });
});
