import assert from 'node:assert/strict';
import { test } from 'node:test';

import { judgeSamples } from './judge-samples.ts';
import type { Sample } from './measured-process.ts';

const sample = (changed: Partial<Sample>): Sample => ({
  minutes: 0,
  calls: 0,
  failed: 0,
  processorSeconds: 0,
  residentMb: 400,
  settledMb: 380,
  ownMb: 300,
  pagesMb: 96,
  heapMb: 50,
  threadHeapsMb: 100,
  threadHeaps: {},
  externalMb: 10,
  threads: 18,
  descriptors: 100,
  descriptorKinds: {},
  timers: 90,
  active: {},
  databaseBytes: 0,
  otherBytes: 0,
  ...changed,
});

/** Eight samples, of which the last quarter has the change. */
const sampled = (changed: Partial<Sample>): Sample[] => Array.from({ length: 8 }, (_, index) => sample(index < 6 ? {} : changed));
const problemsOf = (changed: Partial<Sample>, rest: Partial<Sample> = {}): string[] =>
  judgeSamples({ first: sample({}), sampled: sampled(changed), rest: sample({ calls: 1000, databaseBytes: 1_000_000, ...rest }) }).problems;

test('a soak finds memory, threads, descriptors, timers and a database that grow, and nothing else', () => {
  assert.deepEqual(problemsOf({}), []);
  assert.deepEqual(problemsOf({ heapMb: 54 }), ['heapMb grew by 4']);
  assert.deepEqual(problemsOf({ threads: 20 }, { threads: 19 }), ['1 more threads at rest than before']);
  assert.deepEqual(problemsOf({}, { descriptors: 105, timers: 95 }), [
    '5 more descriptors at rest than before',
    '5 more timers at rest than before',
  ]);
  assert.deepEqual(problemsOf({}, { databaseBytes: 5_000_000 }), ['5000 bytes for each call']);
});

test('own memory may grow with the page caches of SQLite until they are full', () => {
  assert.deepEqual(problemsOf({ ownMb: 317 }), ['ownMb grew by 17']);
  assert.deepEqual(problemsOf({ ownMb: 317, pagesMb: 97 }), []);
});

test('the heap of a thread counts only if the thread is there at rest', () => {
  const first = sample({ threadHeaps: { store: 40 } });
  const judged = (threadHeaps: Sample['threadHeaps']): string[] =>
    judgeSamples({ first, sampled: sampled({ threadHeaps, threadHeapsMb: 120, ownMb: 320 }), rest: sample({ calls: 1 }) }).problems;
  assert.deepEqual(judged({ store: 40, sound: 20 }), []);
  assert.deepEqual(judged({ store: 60 }), ['ownMb grew by 20', 'threadHeapsMb grew by 20']);
});
