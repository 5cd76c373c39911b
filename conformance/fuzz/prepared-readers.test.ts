import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import type { JobName, LoadReport } from './watch-loads.ts';

/**
 * Code that loads while a job runs counts against the job: a small PDF exceeded its time limit in every new thread of a
 * busy machine.
 */
for (const name of ['file', 'page'] satisfies JobName[])
  test(`libraries-in-the-time-of-a-job: the job of a ${name} finds its PDF reader loaded`, async () => {
    const worker = new Worker(new URL('./watch-loads.ts', import.meta.url), { workerData: name });
    const [{ isRead, loaded }] = (await once(worker, 'message')) as [LoadReport];
    await worker.terminate();
    assert.ok(isRead);
    assert.deepEqual(
      loaded.filter((url) => url.includes('pdfjs')),
      [],
    );
  });
