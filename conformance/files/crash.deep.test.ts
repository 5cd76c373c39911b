import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import OpenAI, { toFile } from 'openai';

import { startWeir } from '../support/start-weir.ts';

/** So many that they take seconds: this process may stall for one second between two checks of the progress. */
const filesCount = 30;

test('files that were being indexed when the process was killed are indexed by the next one', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-crash-'));
  try {
    const connect = (url: string, apiKey: string): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
    const first = await startWeir({ dataDirectory });
    const before = connect(first.gatewayUrl, first.apiKey);
    const store = await before.vectorStores.create({});
    const paragraphs = (name: string): string =>
      Array.from({ length: 4000 }, (_, index) => `${name} says sentence number ${index}.`).join('\n\n');
    const files = await Promise.all(
      Array.from({ length: filesCount }, async (_, index) =>
        before.files.create({ file: await toFile(Buffer.from(paragraphs(`file${index}`)), `f${index}.txt`), purpose: 'assistants' }),
      ),
    );
    const batch = await before.vectorStores.fileBatches.create(store.id, { file_ids: files.map(({ id }) => id) });
    let counts = batch.file_counts;
    while (counts.completed < 2)
      counts = (await before.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id: store.id })).file_counts;
    await first.stop('SIGKILL');
    assert.ok(counts.completed < filesCount, 'it was killed in the middle');

    const second = await startWeir({ dataDirectory });
    const after = connect(second.gatewayUrl, second.apiKey);
    const done = await after.vectorStores.fileBatches.poll(store.id, batch.id, { pollIntervalMs: 200 });
    assert.equal(done.status, 'completed');
    assert.equal(done.file_counts.completed, filesCount);
    for (const [index, file] of files.entries()) {
      const texts: string[] = [];
      for await (const part of after.vectorStores.files.content(file.id, { vector_store_id: store.id })) texts.push(part.text ?? '');
      assert.equal(new Set(texts).size, texts.length, 'no chunk exists twice');
      assert.ok(texts.at(-1)?.includes(`file${index} says sentence number 3999.`));
    }
    await second.stop('SIGKILL');
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});
