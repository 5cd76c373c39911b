import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createExtractor, type FileToExtract } from './create-extractor.ts';

const never = new AbortController().signal;
const fileOf = (tenant: string, filename: string, text: string): FileToExtract => ({
  tenant,
  filename,
  chunking: { isAuto: true, tokensMax: 800, overlapTokens: 400 },
  charactersMax: 20_000_000,
  read: async () => new Uint8Array(Buffer.from(text)),
});
/** linkedom needs many seconds for it. */
const slowPage = `<!doctype html>${'<p>a<br>b</p>'.repeat(400_000)}`;
const limits = { quickMs: 100, timeoutMs: 1500, memoryMegabytes: 512 };

test('F96: slow files of some tenants do not delay the small file of another', async () => {
  // The slow files have enough time, so that a busy machine cannot end them early; the small one is quick there too.
  const extractor = createExtractor({ ...limits, quickMs: 500, timeoutMs: 120_000 });
  const slow = ['a', 'b', 'c'].flatMap((tenant) => [1, 2].map(() => extractor.extract(fileOf(tenant, 'slow.html', slowPage), never)));
  const ended: string[] = [];
  for (const each of slow) each.then(() => ended.push('slow')).catch(() => {});
  const small = await extractor.extract(fileOf('d', 'small.txt', 'a few words'), never);
  assert.deepEqual(ended, [], 'it is read before any of the slow ones');
  assert.ok('chunks' in small && small.chunks.length === 1);
  await extractor.close();
  for (const each of slow) await assert.rejects(each, /closed/);
});

test('a file that takes too long is refused with the time limit', async (context) => {
  const extractor = createExtractor({ ...limits, timeoutMs: 300 });
  context.after(() => extractor.close());
  const result = await extractor.extract(fileOf('a', 'slow.html', slowPage), never);
  assert.ok('error' in result && /took longer than 300 ms/.test(result.error.message), JSON.stringify(result).slice(0, 200));
});

test('a page nested deeper than any real one is read without its structure', async (context) => {
  const extractor = createExtractor({ ...limits, quickMs: 20_000, timeoutMs: 20_000 });
  context.after(() => extractor.close());
  const result = await extractor.extract(fileOf('a', 'deep.html', `<!doctype html>${'<div>'.repeat(400_000)}deepword`), never);
  assert.ok('chunks' in result && result.chunks[0]?.text === 'deepword', JSON.stringify(result).slice(0, 200));
});

test('a large file arrives in parts, in order and complete', async (context) => {
  const extractor = createExtractor({ ...limits, quickMs: 20_000, timeoutMs: 20_000 });
  context.after(() => extractor.close());
  const words = Array.from({ length: 200_000 }, (_, index) => `word${index}`);
  const result = await extractor.extract(fileOf('a', 'large.txt', words.join(' ')), never);
  assert.ok('chunks' in result && result.chunks.length > 400);
  assert.ok(result.chunks[0]?.text.startsWith('word0 '));
  assert.ok(result.chunks.at(-1)?.text.endsWith('word199999'));
});

test('closing and cancelling end running work without an error of the file', async () => {
  const extractor = createExtractor(limits);
  const leaving = new AbortController();
  const left = extractor.extract(fileOf('a', 'slow.html', slowPage), leaving.signal);
  const closed = extractor.extract(fileOf('b', 'slow.html', slowPage), never);
  leaving.abort(new Error('left'));
  await assert.rejects(left, /left/);
  await Promise.all([assert.rejects(closed, /closed/), extractor.close()]);
});
