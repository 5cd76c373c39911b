import { parentPort, workerData } from 'node:worker_threads';

/** The results of a thread that probes a process every few milliseconds. */
export type HealthReport = {
  readonly times: readonly number[];
  /** Each status of an answer, once. */
  readonly statuses: readonly number[];
};

const betweenMs = 5;
const url = workerData as string;
const times: number[] = [];
const statuses = new Set<number>();
let isOver = false;
parentPort?.on('message', () => (isOver = true));

while (!isOver || times.length === 0) {
  const begun = performance.now();
  const answer = await fetch(url);
  await answer.arrayBuffer();
  times.push(performance.now() - begun);
  statuses.add(answer.status);
  await new Promise((resolve) => setTimeout(resolve, betweenMs));
}
parentPort?.postMessage({ times, statuses: [...statuses] } satisfies HealthReport);
parentPort?.close();
