import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { threadMs } from '../../src/platform/thread-ms.ts';

/**
 * Loaded into a Weir before the program (`node --import`): reports the longest block of its event loop since the last
 * request. It schedules a turn every millisecond, so that no block between two turns is missed.
 */
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

/**
 * The same in processor time: the loop may also be blocked because the system gave its processor to another program.
 */
let busiestMs = 0;
let lastMs = threadMs();
setInterval(() => {
  const nowMs = threadMs();
  busiestMs = Math.max(busiestMs, nowMs - lastMs);
  lastMs = nowMs;
}, 1).unref();

const server = createServer((_request, response) => {
  const reading = { longestMs: delay.max / 1e6, busiestMs, p99Ms: delay.percentile(99) / 1e6 };
  delay.reset();
  busiestMs = 0;
  response.end(JSON.stringify({ ...reading, memory: process.memoryUsage() }));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`loop watch http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
server.unref();
