import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { type AskedCallExport, createCallExports, TooManyExportsError } from '../../src/billing/calls/call-exports.ts';
import { type ExportThreads, openExportThreads } from '../../src/main/programs/export-threads/open-export-threads.ts';
import { createEntry } from './call-entries.ts';
import { startMs } from './suite-start.ts';
import { type ThreadEngine, threadEngines } from './thread-engines.ts';

const calls = 3000;
const asked = (format: AskedCallExport['format']): AskedCallExport => ({ format, filter: {}, scope: 'all', nowMs: startMs });
const never = new AbortController().signal;

async function take(pieces: AsyncIterator<Uint8Array>): Promise<Buffer> {
  const taken: Uint8Array[] = [];
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) taken.push(next.value);
  return Buffer.concat(taken);
}

for (const { name, skip, open } of threadEngines) {
  describe(name, { skip }, () => {
    let engine: ThreadEngine;
    let threads: ExportThreads;
    before(async () => {
      engine = await open();
      const { store } = engine;
      await store.appendEntries(
        Array.from({ length: calls }, (_, index) => createEntry(`call-${index}`, { acceptedAtMs: startMs + index })),
      );
      while ((await store.followCalls(500, startMs)) === 'more');
      threads = openExportThreads(engine.database);
    });
    after(async () => {
      await threads.close();
      await engine.close();
    });

    for (const format of ['csv', 'jsonl', 'xlsx'] as const) {
      test(`a thread makes the same ${format} export as this one`, async () => {
        const here = await take(await createCallExports(engine.store).open(asked(format), never));
        const there = await take(await threads.open(asked(format), never));
        assert.ok(here.length > calls * 20);
        assert.ok(there.equals(here));
      });
    }

    test('a fifth export at a time is refused until one of the four has ended, also one that nobody reads', async () => {
      const left = new AbortController();
      const [first, second, ...others] = await Promise.all([1, 2, 3, 4].map(() => threads.open(asked('csv'), left.signal)));
      await assert.rejects(threads.open(asked('csv'), never), TooManyExportsError);
      await take(first ?? assert.fail());
      await take(await threads.open(asked('csv'), never));
      await second?.next();
      await second?.return?.();
      left.abort(new Error('the caller has left'));
      for (const pieces of others) await assert.rejects(take(pieces), /has left/);
      await Promise.all([1, 2, 3].map(async () => await take(await threads.open(asked('csv'), never))));
    });
  });
}

test('a database that cannot be opened ends the export', async () => {
  const broken = openExportThreads({ path: join(tmpdir(), 'weir-no-such-folder', 'weir.db'), busyTimeoutMs: 100 });
  await assert.rejects(broken.open(asked('csv'), never), { name: 'StatisticsUnavailableError' });
  await broken.close();
});
