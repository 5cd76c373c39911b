import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { startObjectStore } from '../../support/start-object-store.ts';

const bytes = 500 * 1024 * 1024;
/**
 * Two parts of a multipart upload, and uncollected garbage: 70 to 105 MiB were measured, and more if it gets no
 * processor. A file in memory would be twice the bound.
 */
const grownMaxKb = 256 * 1024;

async function storeLargeFile(place: string): Promise<void> {
  const main = fileURLToPath(new URL('./store-large-file-main.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [main, place, String(bytes)], { timeout: 200_000 });
  const { grownKb, ...result } = JSON.parse(stdout);
  assert.deepEqual(result, { same: true, bytes });
  assert.ok(grownKb < grownMaxKb, `memory grew by ${grownKb} kB`);
}

test('a file of 500 MiB passes through a directory without being held in memory', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'weir-large-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  await storeLargeFile(directory);
});

test('a file of 500 MiB passes through an object store without being held in memory', async (context) => {
  const store = await startObjectStore();
  context.after(() => store[Symbol.asyncDispose]());
  await storeLargeFile(JSON.stringify(store.settings));
});
