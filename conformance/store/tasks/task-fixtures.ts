import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

import type { CallEntry } from '../../../src/billing/ledger/call-entry.ts';
import type { LedgerStore } from '../../../src/billing/ledger/ledger-store.ts';
import type { CallbackStore, NewDelivery } from '../../../src/tasks/callbacks/callback-store.ts';
import type { TaskEnd, TaskProgress, TaskStore } from '../../../src/tasks/task-store.ts';
import type { StoredMedia, VideoTask } from '../../../src/tasks/video-task.ts';
import { createEntry } from '../call-entries.ts';
import { startMs } from '../suite-start.ts';

/** The objects of the task suites: the tasks, their callbacks and their ledger rows. */
export type TaskStores = TaskStore & CallbackStore & Pick<LedgerStore, 'appendEntries' | 'findEntry'>;

/** A store without tasks for each test, because a claim takes every due task. */
export type OpenTasks = (context: TestContext) => Promise<{
  readonly store: TaskStores;
  /** The same store as another process opens it. */
  readonly another: () => Promise<TaskStores>;
}>;

export const second = 1000;

/** Ledger rows outlive the tests that made them. */
let calls = 0;

/** A text-to-video task that is being submitted; tests change the members that they are about. */
export function createTask(id: string, changes: Partial<VideoTask> = {}): VideoTask {
  return {
    id,
    callId: `call-${id}-${(calls += 1)}`,
    userName: 'ann',
    keyId: 'key-1',
    keyName: 'ci',
    form: 'video-generations',
    mode: 'text',
    requestedModel: 'm-video',
    upstream: 'xai',
    credentialId: 'credential-1',
    vendor: 'xai',
    upstreamModel: 'm-video-2026-01-01',
    protocol: 'xai-videos',
    phase: 'submitting',
    progress: 0,
    createdAtMs: startMs,
    sealed: Uint8Array.from(Buffer.from(`sealed ${id}`)),
    priceVersion: '2026-01-01',
    pricingParameters: { resolution: '720p' },
    heldUsage: { outputVideoMs: 5000 },
    heldNanoUsd: 350_000_000n,
    nextPollAtMs: startMs,
    pollFailures: 0,
    ...changes,
  };
}

export const mediaOf = (id: string, bytes = 1000): StoredMedia => ({
  key: `media-${id}`,
  mediaType: 'video/mp4',
  bytes,
  sha256: 'ab'.repeat(32),
});

/** The ledger row of a task. */
export function entryOf(task: VideoTask, changes: Partial<CallEntry> = {}): CallEntry {
  return createEntry(task.callId, {
    acceptedAtMs: task.createdAtMs,
    userName: task.userName,
    keyName: task.keyName,
    usage: { outputVideoMs: 5000 },
    pricingParameters: task.pricingParameters,
    charge: { amountNanoUsd: 350_000_000n, lines: [] },
    ...changes,
  });
}

export function endOf(task: VideoTask, changes: Partial<TaskEnd> = {}): TaskEnd {
  const endedAtMs = task.createdAtMs + 60 * second;
  return { id: task.id, phase: 'completed', endedAtMs, entry: entryOf(task), deliveries: [], ...changes };
}

export function progressOf(task: VideoTask, owner: string, changes: Partial<TaskProgress> = {}): TaskProgress {
  const poll = { nowMs: startMs + second, nextPollAtMs: startMs + 5 * second, pollFailures: 0 };
  return { id: task.id, owner, ...poll, missingSinceMs: undefined, alert: undefined, ...changes };
}

export function createDelivery(id: string, changes: Partial<NewDelivery> = {}): NewDelivery {
  return {
    id,
    userName: 'ann',
    subject: 'video_1',
    eventType: 'video.completed',
    sealedUrl: Uint8Array.from([1, 2, 0, 255]),
    payload: '{"type":"video.completed","data":{"id":"video_1"}}',
    createdAtMs: startMs,
    ...changes,
  };
}

/** Inserts a task that the upstream has accepted and that has no owner. */
export async function addOpenTask(store: TaskStores, id: string, changes: Partial<VideoTask> = {}): Promise<VideoTask> {
  const task = createTask(id, { phase: 'queued', upstreamTaskId: `up-${id}`, ...changes });
  assert.deepEqual(await store.insertTask(task, { owner: 'submitter', untilMs: startMs }), { type: 'inserted' });
  return task;
}

/** Inserts an ended task. */
export async function addEndedTask(
  store: TaskStores,
  id: string,
  changes: Partial<VideoTask> = {},
  end: Partial<TaskEnd> = {},
): Promise<VideoTask> {
  const task = await addOpenTask(store, id, changes);
  assert.equal(await store.endTask(endOf(task, end)), true);
  return task;
}

/** Claims as one owner; resolves with the ids. */
export async function claimIds(
  store: TaskStores,
  owner: string,
  nowMs: number,
  limit = 100,
  storingMax?: number,
): Promise<readonly string[]> {
  const claimed = await store.claimTasks({
    owner,
    nowMs,
    leaseUntilMs: nowMs + 30 * second,
    limit,
    ...(storingMax === undefined ? {} : { storingMax }),
  });
  return claimed.map(({ id }) => id);
}
