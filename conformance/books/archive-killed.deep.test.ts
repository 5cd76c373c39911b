import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { withArchives } from '../../src/billing/archive/with-archives.ts';
import { databasePath } from '../../src/main/assembly/open-data-directory.ts';
import { openArchiveFilesLater } from '../../src/main/assembly/open-archive-files.ts';
import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import type { Store } from '../../src/store/store.ts';
import { createEntry } from '../store/call-entries.ts';
import { cleanEnvironment } from '../support/start-weir.ts';
import { fillBooks, useStore } from './fill-books.ts';

const weir = fileURLToPath(new URL('../../weir.js', import.meta.url));
const kills = 12;
const rows = 12_000;
// Nearly four years, so that many files are made.
const firstMs = Date.UTC(2022, 0, 1);
const stepMs = 10_000_000;
const span = { startMs: firstMs, endMs: firstMs + rows * stepMs, limit: 10_000 };

describe('archiving is killed at any moment', { timeout: 540_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-archive-killed-'));
  const path = databasePath(folder);
  const entries = Array.from({ length: rows }, (_, at) =>
    createEntry(`kill-${String(at).padStart(6, '0')}`, { acceptedAtMs: firstMs + at * stepMs, heldPots: at % 2 }),
  );

  before(async () => {
    writeFileSync(join(folder, 'weir.yaml'), 'books: { retention: { months: 1 } }\n');
    await withStore((store) => fillBooks(store, entries));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const withStore = <Result>(use: (store: Store) => Promise<Result>): Promise<Result> => useStore(path, use);

  /** The command in a process of its own. */
  const start = (): ChildProcess =>
    spawn(process.execPath, [weir, 'archive', 'run'], {
      cwd: folder,
      env: cleanEnvironment({ WEIR_DATA_DIR: folder, WEIR_CONFIG: join(folder, 'weir.yaml') }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });

  /** Waits until the store knows so many archives, or the process has ended. */
  const archivesReach = async (count: number, child: ChildProcess): Promise<void> => {
    const reader = openDatabase(path, { readOnly: true, busyTimeoutMs: 30_000 });
    try {
      while (child.exitCode === null && Number(reader.first('select count(*) as archives from call_archives')?.['archives'] ?? 0) < count)
        await delay(10);
    } finally {
      reader.close();
    }
  };

  /** All rows as they are found in the store and in files, and what of it is in the store. */
  const read = () =>
    withStore(async (store) => {
      const files = openArchiveFilesLater({ config: { months: 1 }, environment: { dataDirectory: folder }, store });
      const merged = withArchives(store, files, new AbortController().signal);
      const found = [...(await merged.listEntriesBetween(span))];
      for (let last = found.at(-1); last !== undefined && found.length < rows; last = found.at(-1)) {
        const page = await merged.listEntriesBetween({ ...span, after: last });
        if (page.length === 0) break;
        found.push(...page);
      }
      // A dead process holds the lease for minutes.
      await store.claimArchiving({ owner: 'test', nowMs: Date.now() + 3_600_000, untilMs: 0 });
      await store.releaseArchiving('test');
      return { found, archives: await store.listArchives() };
    });

  test(`after each of ${kills} kills every row is there once, in the store or in a file, and the last run completes the rest`, async (context) => {
    const progress: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      const child = start();
      // Months are written, verified and dropped one after the other: the delays meet all of these.
      await archivesReach(kill * 3 + 1, child);
      await delay((kill * 37) % 150);
      assert.equal(child.exitCode, null, `kill ${kill} came too late`);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const { found, archives } = await read();
      assert.deepEqual(
        found.map(({ callId }) => callId),
        entries.map(({ callId }) => callId),
        `kill ${kill}`,
      );
      progress.push(archives.reduce((sum, { dropped }) => sum + dropped.rows, 0));
    }
    assert.ok(new Set(progress).size > kills / 2, `the kills met few states: ${progress.join(', ')}`);
    context.diagnostic(`rows dropped after each kill: ${progress.join(', ')}`);
    const last = start();
    const [code] = (await once(last, 'exit')) as [number];
    assert.equal(code, 0);
    const { found, archives } = await read();
    assert.deepEqual(found, entries);
    assert.equal(
      archives.reduce((sum, { dropped }) => sum + dropped.rows, 0),
      rows,
    );
    assert.ok(archives.every(({ state }) => state === 'dropped'));
  });

  const hasArrow = spawnSync(python(), ['-c', 'import pyarrow.parquet']).status === 0;
  test('another reader of Parquet finds the same rows and sums', { skip: !hasArrow && 'no Python with pyarrow' }, () => {
    const program = `import pyarrow.parquet as p, sys
t = [p.read_table(f) for f in sys.argv[1:]]
print(sum(x.num_rows for x in t), sum(v.as_py() for x in t for v in x['amount_nano_usd']), min(x['accepted_at'][0].as_py().year for x in t))`;
    const files = globSync(join(folder, 'archive', '*.parquet')).toSorted();
    const amount = entries.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n);
    assert.equal(execFileSync(python(), ['-c', program, ...files], { encoding: 'utf8' }).trim(), `${rows} ${amount} 2022`);
  });
});

/** WEIR_TEST_PYTHON names a Python with pyarrow. */
function python(): string {
  return process.env['WEIR_TEST_PYTHON'] ?? 'python3';
}
