import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Loaded into a Weir before the program (`node --import`): tells how long its event loop was held up at most since the last question. It asks for a turn every
 * millisecond, so that nothing hides between two turns.
 */
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const server = createServer((_request, response) => {
  const longestMs = delay.max / 1e6;
  const p99Ms = delay.percentile(99) / 1e6;
  delay.reset();
  response.end(JSON.stringify({ longestMs, p99Ms, memory: process.memoryUsage() }));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`loop watch http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
server.unref();
