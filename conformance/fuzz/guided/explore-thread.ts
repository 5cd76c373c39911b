import { parentPort, workerData } from 'node:worker_threads';

import { explore } from './explore.ts';
import { guidedTargets } from './targets.ts';

/** Explores one parser in a thread of its own, so that an input that never ends can be seen and ended. */
export type ExploreOrder = {
  readonly name: string;
  readonly seed: number;
  readonly seconds: number;
  /** The number of inputs so far, and the length and bytes of the present one. */
  readonly shared: SharedArrayBuffer;
};

const { name, seed, seconds, shared } = workerData as ExploreOrder;
const target = guidedTargets[name];
if (target === undefined) throw new Error(`there is no parser ${name}`);
const [head, bytesNow] = [new Int32Array(shared, 0, 2), new Uint8Array(shared, 8)];
const endsMs = performance.now() + seconds * 1000;
const exploration = await explore(target, {
  seed,
  isOver: () => performance.now() > endsMs,
  onInput: (bytes) => {
    bytesNow.set(bytes.subarray(0, bytesNow.length));
    Atomics.store(head, 1, bytes.length);
    Atomics.add(head, 0, 1);
  },
});
parentPort?.postMessage(exploration);
