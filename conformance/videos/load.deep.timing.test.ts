import assert from 'node:assert/strict';
import { test } from 'node:test';

import { completeTogether, downloadTogether, pollFor, watchTasks } from '../media-load/phases.ts';
import { startMediaLoad } from '../media-load/start-media-load.ts';
import { eventually } from '../support/http.ts';
import { isLong } from '../support/scale.ts';

const megabyte = 1_000_000;
const tasks = 100;

// bench/media.ts measures the figures of a thousand tasks and two hundred downloads, and store/tasks/task-cost.timing
// the cost of a task in every run.
const skip = !isLong && 'before a release: set WEIR_LONG=1';

test(
  'many simultaneous videos are polled in time, downloaded together in little memory, stored and charged together, and followed to the end',
  { skip },
  async (context) => {
    await using load = await startMediaLoad();
    const [file = ''] = await load.submit(1, `done bytes=${20 * megabyte}`);
    await eventually(
      async () => (await load.store.countTasks(Date.now())).open,
      (open) => open === 0,
      60_000,
    );
    const ids = await load.submit(tasks, `bytes=${megabyte}`);
    const watched = watchTasks(load, ids.slice(0, 40));
    await watched.ready;

    const { gapMs, polls } = await pollFor(load, 5, 5);
    context.diagnostic(`${polls} polls, ${Math.round(gapMs.max)} ms apart at most`);
    assert.ok(polls >= tasks && gapMs.max > 0 && gapMs.max <= 10_000, `${polls} polls, ${gapMs.max} ms`);

    const { lengths, startBytes, peakBytes } = await downloadTogether(load, { id: file, clients: 20, seconds: 1 });
    context.diagnostic(`${Math.round((peakBytes - startBytes) / megabyte)} MB more memory for 20 downloads of 20 MB`);
    assert.deepEqual([...lengths], [20 * megabyte]);
    assert.ok(peakBytes - startBytes < 250 * megabyte, `${peakBytes - startBytes} bytes`);

    const { left, ms } = await completeTogether(load, 60_000);
    context.diagnostic(`${tasks} simultaneous ends were stored and charged within ${Math.round(ms)} ms`);
    assert.equal(left, 0);
    const events = await watched.ended;
    assert.ok(events.every((names) => names.at(-1) === 'video.completed'));
    const charged = (await load.store.listEntries({ limit: 1000 })).filter(({ requestedModel }) => requestedModel === 'bench-video');
    assert.equal(charged.length, tasks + 1);
    assert.ok(charged.every(({ charge }) => charge.amountNanoUsd === 250_000_000n));
  },
);
