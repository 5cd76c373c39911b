import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

/** Calls of an export that would be 100 MB if it were held. */
const calls = 150_000;
const heapMb = 32;
const buffersMb = 32;

/** Takes an export of calls that a store makes up, and posts its size and the most bytes of buffers. */
const program = `
  import { parentPort, workerData } from 'node:worker_threads';
  import { createCallExports } from ${JSON.stringify(new URL('call-exports.ts', import.meta.url).href)};
  const callAt = (number) => ({
    atMs: 2_000_000_000_000 - number, number, callId: 'req_' + number, userName: 'user-' + (number % 5000), keyId: 'key_1', keyName: 'ci',
    model: 'm', interface: 'openai-chat', end: 'finished', flags: ['stream'], promptTokens: number, completionTokens: 5, durationMs: 120,
    amountNanoUsd: 9_007_199_254_740_993n, tags: { ticket: 'number-' + number },
  });
  const scanCalls = async ({ after, limit }) => {
    const from = after?.number ?? 0;
    const calls = Array.from({ length: Math.min(limit, workerData.calls - from) }, (_, index) => callAt(from + index + 1));
    const last = calls.at(-1);
    return { calls, searchedToMs: 0, ...(last.number < workerData.calls && { next: { atMs: last.atMs, number: last.number } }) };
  };
  const asked = { format: workerData.format, filter: {}, scope: 'all', nowMs: 0 };
  const pieces = await createCallExports({ scanCalls }).open(asked, new AbortController().signal);
  let [bytes, most] = [0, 0];
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
    bytes += next.value.length;
    next.value.buffer.transfer(0);
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  }
  parentPort.postMessage({ bytes, most });
`;

for (const [format, bytesMin] of [
  ['csv', 10e6],
  ['jsonl', 10e6],
  ['xlsx', 2e6],
] as const) {
  test(`an export of ${calls} calls as ${format} never needs more than a heap of ${heapMb} MB and buffers of ${buffersMb} MB`, async () => {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
      workerData: { calls, format },
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 6 },
    });
    // A heap that is full ends the thread with an error.
    const [{ bytes, most }] = (await once(worker, 'message')) as [{ bytes: number; most: number }];
    assert.ok(bytes > bytesMin, `${bytes} bytes`);
    assert.ok(most < buffersMb * 1e6, `${most} bytes of buffers`);
  });
}
