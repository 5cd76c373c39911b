import assert from 'node:assert/strict';
import { test } from 'node:test';

import { residentBytes } from '../support/process-memory.ts';
import { startAudioProgram } from './audio-weir.ts';
import { makeWav, sendJson } from './start-audio-upstream.ts';
import { upload } from './upload-form.ts';

test('200 uploads of 10 MB at once are not held in memory', async (context) => {
  // The subject is memory: on a busy machine the gate would refuse some calls.
  const running = await startAudioProgram(() => {}, { config: { overload: { loopDelayMs: 10_000 } } });
  try {
    const { weir, upstream } = running;
    // It counts the bytes and stores none of them.
    let taken = 0;
    upstream.early = (request, response) => {
      request.on('data', (piece: Buffer) => (taken += piece.length));
      request.on('end', () => sendJson(response, 200, { text: 'Hello.', usage: { type: 'duration', seconds: 1 } }));
      return true;
    };
    const file = Buffer.concat([makeWav(1), Buffer.alloc(10_000_000)]);
    const wave = () => Promise.all(Array.from({ length: 50 }, () => upload(running, file)));
    await wave();
    const before = residentBytes(weir.process.pid);
    if (before === undefined) return context.skip('this system does not report resident memory');
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, residentBytes(weir.process.pid) ?? 0)), 20);
    const replies = await Promise.all(Array.from({ length: 200 }, () => upload(running, file)));
    clearInterval(watch);
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.ok(taken > 250 * file.length);
    const grownMb = Math.round((peak - before) / 1_000_000);
    context.diagnostic(`2 GB of simultaneous uploads took ${grownMb} MB of memory`);
    assert.ok(grownMb < 300, `it grew by ${grownMb} MB`);
  } finally {
    await running[Symbol.asyncDispose]();
  }
});
