import { fork } from 'node:child_process';

import { createLimiter, type LimitedSubject } from '../src/gateway/admission/limits/limiter.ts';
import { createIpc } from '../src/main/programs/workers/ipc.ts';
import type { PrimaryTopics } from '../src/main/programs/workers/protocol.ts';
import { createSharedLimiter } from '../src/main/programs/workers/shared-limiter.ts';
import { createWorkerReservations } from '../src/main/programs/workers/worker-reservations.ts';

/**
 * The cost of a call with limits in a worker that asks its primary: the time until its answer, one at a time, and the
 * processor time of each process with many simultaneous calls. `node bench/workers.ts`
 */
const calls = 20_000;
const ample = { requestsPerMinute: 1_000_000_000, tokensPerMinute: 1_000_000_000_000, concurrency: 100_000 };
const subjects: readonly LimitedSubject[] = [{ scope: 'key', id: 'k', limits: ample }];
const ignore = (): void => {};

const cpuMs = (): number => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;

async function ask(): Promise<void> {
  const channel = {
    send: (message: unknown) => void process.send?.(message, ignore),
    onMessage: (listener: (message: unknown) => void) => void process.on('message', listener),
  };
  const limiter = createSharedLimiter({
    primary: createIpc<PrimaryTopics, Record<never, never>>({ channel, onFailure: ignore, handlers: {} }),
  });
  const one = async (): Promise<void> => {
    const taken = await limiter.reserve(subjects, 500);
    if (taken.admitted) taken.settle(200);
  };
  for (let index = 0; index < 2000; index += 1) await one();
  const times: number[] = [];
  for (let index = 0; index < 2000; index += 1) {
    const startedMs = performance.now();
    await one();
    times.push((performance.now() - startedMs) * 1000);
  }
  times.sort((first, second) => first - second);
  console.log(`one at a time: p50 ${times[1000]?.toFixed(0)} µs, p99 ${times[1980]?.toFixed(0)} µs`);
  const startedMs = cpuMs();
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      for (let index = 0; index < calls / 64; index += 1) await one();
    }),
  );
  console.log(`64 at a time: ${(((cpuMs() - startedMs) * 1000) / calls).toFixed(1)} µs of the worker's processor time for a call`);
  process.disconnect?.();
}

function answer(): void {
  const child = fork(import.meta.filename);
  const reservations = createWorkerReservations({ limiter: createLimiter({ clock: { monotonicMs: () => performance.now() } }) });
  createIpc<Record<never, never>, Pick<PrimaryTopics, 'reserve' | 'end-reservation'>>({
    channel: {
      send: (message) => void child.send(message as object, ignore),
      onMessage: (listener) => void child.on('message', listener),
    },
    onFailure: ignore,
    handlers: { reserve: reservations.reserve, 'end-reservation': reservations.end },
  });
  const startedMs = cpuMs();
  child.once('exit', () =>
    console.log(`${(((cpuMs() - startedMs) * 1000) / (calls + 4000)).toFixed(1)} µs of the primary's processor time for a call`),
  );
}

if (process.connected) await ask();
else answer();
