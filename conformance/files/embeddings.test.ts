import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI, { toFile } from 'openai';

import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { runCommand } from '../programs/run-command.ts';
import { eventually, post } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedWeir } from '../support/start-simulated-weir.ts';

const model = 'text-embedding-3-small';

describe('embeddings, and searching by meaning', () => {
  let running: SimulatedWeir;
  let client: OpenAI;

  before(async () => {
    running = await startSimulatedWeir({
      models: {
        second: {
          targets: [
            { upstream: 'broken', model },
            { upstream: 'openai', model },
          ],
        },
        messages: { targets: [{ upstream: 'anthropic', model: 'claude-sonnet-4-5' }] },
      },
      upstreams: () => ({ broken: { vendor: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } }),
      retries: { attemptsMax: 3 },
      config: { tools: { fileSearch: { embeddings: { model } } } },
    });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());

  /** The keys under which embeddings are booked, and their costs in nano-USD. */
  const booked = (): Promise<ReadonlyMap<string, bigint>> => {
    const database = openDatabase(`${running.weir.dataDirectory}/weir.sqlite`, { readOnly: true, busyTimeoutMs: 5000 });
    try {
      const rows = database.all('select key_name, amount_nano_usd as amount from calls where billed = 1 and prompt_tokens > 0');
      return Promise.resolve(new Map(rows.map((row) => [String(row['key_name']), BigInt(String(row['amount']))])));
    } finally {
      database.close();
    }
  };

  test('vectors come in both encodings and are equal', async () => {
    const coded = await client.embeddings.create({ model, input: ['the red house', 'a red home'] });
    const plain = await client.embeddings.create({ model, input: ['the red house', 'a red home'], encoding_format: 'float' });
    assert.deepEqual(
      coded.data.map(({ embedding }) => embedding.map((value) => Math.fround(value))),
      plain.data.map(({ embedding }) => embedding.map((value) => Math.fround(value))),
    );
    assert.equal(plain.model, model);
    assert.ok(plain.usage.prompt_tokens > 0);
    const short = await client.embeddings.create({ model, input: [1, 2, 3], dimensions: 8 });
    assert.equal(short.data[0]?.embedding.length, 8);
  });

  test('a target that is unreachable is skipped', async () => {
    const created = await client.embeddings.create({ model: 'second', input: 'x' });
    assert.equal(created.model, 'second');
    assert.equal(created.data.length, 1);
  });

  test('an invalid request is refused before it costs anything', async () => {
    const wrong: readonly (readonly [object, number])[] = [
      [{ input: 'x' }, 400],
      [{ model }, 400],
      [{ model, input: '' }, 400],
      [{ model, input: [] }, 400],
      [{ model, input: ['a', 7] }, 400],
      [{ model, input: 'x', encoding_format: 'hex' }, 400],
      [{ model, input: 'x', dimensions: 0 }, 400],
      [{ model: 'no-such-model', input: 'x' }, 404],
      [{ model: 'messages', input: 'x' }, 400],
      [{ model, input: 'x', dimensions: 100_000 }, 400],
    ];
    for (const [body, status] of wrong) {
      await assert.rejects(client.post('/embeddings', { body }), (error) => {
        assert.ok(error instanceof OpenAI.APIError, String(error));
        assert.equal(error.status, status, JSON.stringify(body));
        return true;
      });
    }
  });

  test('files with other words are found by meaning, and vectors are booked', async () => {
    const store = await client.vectorStores.create({});
    const text = (name: string, content: string) => toFile(Buffer.from(content), name);
    for (const [name, content] of [
      ['a.txt', 'Mountaineering requires oxygen bottles.'],
      ['b.txt', 'Bread is baked from flour.'],
    ] as const) {
      const file = await client.vectorStores.files.uploadAndPoll(store.id, await text(name, content), { pollIntervalMs: 50 });
      assert.equal(file.status, 'completed', JSON.stringify(file.last_error));
      assert.ok(file.usage_bytes > 256 * 4, 'the vector counts');
    }
    // The simulated model regards words with the same beginning as similar; the index of words does not know
    // "mountainous".
    const found = await client.vectorStores.search(store.id, { query: 'mountainous' });
    assert.equal(found.data[0]?.filename, 'a.txt');
    const books = await eventually(booked, (found) => found.has('file search') && found.size > 1);
    assert.ok(Array.from(books.values()).every((amount) => amount > 0n));
  });

  test('M6: files of a user without credit are not indexed at its cost', async () => {
    const accountsOf = { WEIR_DATA_DIR: running.weir.dataDirectory };
    const created = await runCommand(['keys', 'create', '--user', 'broke', '--name', 'k'], accountsOf);
    const broke = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: created.stdout.trim(), maxRetries: 0 });
    assert.equal((await runCommand(['users', 'limit', 'broke', '--prepaid'], accountsOf)).code, 0);
    const refused = async (): Promise<number> => {
      const { status } = await post(
        `${running.weir.gatewayUrl}/v1/embeddings`,
        { model, input: 'x' },
        { authorization: `Bearer ${broke.apiKey}` },
      );
      return status;
    };
    await eventually(refused, (status) => status === 402);
    const requestsOf = () => running.simulator.records().length;
    const before = requestsOf();
    const store = await broke.vectorStores.create({});
    const file = await broke.files.create({ file: await toFile(Buffer.from('Kites are red.'), 'kites.txt'), purpose: 'user_data' });
    await broke.vectorStores.files.create(store.id, { file_id: file.id });
    await eventually(
      () => running.weir.output(),
      (output) => output.includes('indexing a file was postponed') && output.includes('Insufficient credit'),
    );
    assert.equal(requestsOf(), before, 'an upstream was called');
  });
});
