import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { runToEnd } from '../programs/run-weir.ts';

const writers = 4;
const batches = 60;

test(`F7, F37: ${writers} processes write simultaneously, each ships half of its entries twice, and every entry and its minute are stored once`, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-writers-'));
  const path = join(directory, 'weir.sqlite');
  const main = fileURLToPath(new URL('./append-entries-main.ts', import.meta.url));
  try {
    // They also create the database together.
    const ended = await Promise.all(
      Array.from({ length: writers }, (_, index) => runToEnd(process.execPath, [main, path, `writer-${index}`, String(batches)])),
    );
    for (const { code, stdout, stderr } of ended) assert.deepEqual([code, stdout.trim(), stderr], [0, String(batches * 10), '']);
    const store = await openSqliteStore({ path, readOnly: true });
    const day = { startSeconds: Date.UTC(2026, 0, 5) / 1000, endSeconds: Date.UTC(2026, 0, 6) / 1000 };
    const [row] = await store.queryStatistics({ ...day, buckets: [day], rowsMax: 10 });
    await store.close();
    const entries = writers * batches * 10;
    assert.equal(row?.callCount, entries);
    assert.equal(row.amountNanoUsd, 1500n * BigInt(entries));
    assert.equal(row.promptTokens, 10 * entries);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
