import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { runToEnd } from '../programs/run-weir.ts';
import { eventually } from '../support/http.ts';

test('bookings write no temporary files, so that a full folder for them stops none', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-temporary-'));
  const temporary = join(directory, 'temporary');
  mkdirSync(temporary);
  const seen: (string | null)[] = [];
  const watcher = watch(temporary, (_event, name) => void seen.push(name));
  try {
    const main = fileURLToPath(new URL('./append-scattered-main.ts', import.meta.url));
    const { code, stderr } = await runToEnd(process.execPath, [main, join(directory, 'weir.sqlite'), '4'], {
      environment: { SQLITE_TMPDIR: temporary },
    });
    assert.deepEqual([code, stderr], [0, '']);
    // What happened before is reported before this.
    writeFileSync(join(temporary, 'the-end'), '');
    await eventually(
      () => seen,
      (names) => names.includes('the-end'),
    );
    assert.deepEqual(new Set(seen), new Set(['the-end']));
  } finally {
    watcher.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
