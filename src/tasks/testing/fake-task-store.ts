import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import type { LedgerStore } from '../../billing/ledger/ledger-store.ts';
import type { CallbackStore } from '../callbacks/callback-store.ts';
import { createFakeCallbackStore } from '../callbacks/testing/fake-callback-store.ts';
import type { Idempotency, TaskEnd, TaskProgress, TaskStore } from '../task-store.ts';
import { type VideoPhase, videoPhases, type VideoTask } from '../video-task.ts';

type Row = { task: VideoTask; owner: string | undefined; leaseUntilMs: number };

type KeyRow = Idempotency & { readonly taskId: string };

type Tables = { readonly rows: Map<string, Row>; readonly keys: Map<string, KeyRow>; readonly ledger: Map<string, CallEntry> };

export type FakeTaskStore = TaskStore & CallbackStore & Pick<LedgerStore, 'appendEntries' | 'findEntry'>;

/** A store in memory for tests, with the same contract as the engines. `findEntry` finds its ledger entries. */
export function createFakeTaskStore(): FakeTaskStore {
  const tables: Tables = { rows: new Map(), keys: new Map(), ledger: new Map() };
  const callbacks = createFakeCallbackStore();
  return {
    ...callbacks,
    ...createSubmissions(tables),
    ...createPolls(tables),
    ...createQueries(tables),
    endTask: async (end) => {
      const row = openRow(tables, end.id);
      if (row === undefined || (end.owner !== undefined && row.owner !== end.owner)) return false;
      book(tables, end.entry);
      row.task = endOf(row.task, end, tables.ledger.get(end.entry.callId)?.charge.amountNanoUsd ?? 0n);
      release(row);
      await callbacks.insertDeliveries(end.deliveries);
      return true;
    },
    appendEntries: async (entries) => entries.filter((entry) => book(tables, entry)).length,
    findEntry: async (callId) => structuredClone(tables.ledger.get(callId)),
  };
}

function createSubmissions(tables: Tables): Pick<TaskStore, 'findKeyedTask' | 'insertTask' | 'acceptTask' | 'refuseTask'> {
  const { rows, keys } = tables;
  // Synchronous, so that no other insert comes between the check and the insert.
  const findKeyed = (asked: Parameters<TaskStore['findKeyedTask']>[0]): Awaited<ReturnType<TaskStore['findKeyedTask']>> => {
    const known = keys.get(keyName(asked));
    const existing = known === undefined || known.untilMs <= asked.nowMs ? undefined : rows.get(known.taskId);
    if (known === undefined || existing === undefined) return undefined;
    return known.bodyHash === asked.bodyHash ? { type: 'existing', task: structuredClone(existing.task) } : { type: 'conflict' };
  };
  return {
    findKeyedTask: (asked) => Promise.resolve(findKeyed(asked)),
    insertTask: async (task, lease, idempotency) => {
      const known = idempotency === undefined ? undefined : findKeyed({ ...idempotency, nowMs: task.createdAtMs });
      if (known !== undefined) return known;
      if (rows.has(task.id)) throw new Error(`There is a task ${task.id} already.`);
      if (idempotency !== undefined) keys.set(keyName(idempotency), { ...idempotency, taskId: task.id });
      rows.set(task.id, { task: structuredClone(task), owner: lease.owner, leaseUntilMs: lease.untilMs });
      return { type: 'inserted' };
    },
    acceptTask: async ({ id, owner, upstreamTaskId, phase, progress, nowMs, nextPollAtMs, sealed }) => {
      const row = leasedRow(tables, id, owner);
      if (row === undefined || row.task.phase !== 'submitting') return false;
      const accepted = { upstreamTaskId, phase, progress: openProgress(progress), lastPollAtMs: nowMs, nextPollAtMs };
      row.task = { ...row.task, ...accepted, ...(sealed === undefined ? {} : { sealed }) };
      release(row);
      return true;
    },
    refuseTask: async ({ id, owner, entry }) => {
      const row = leasedRow(tables, id, owner);
      if (row === undefined || row.task.phase !== 'submitting') return false;
      book(tables, entry);
      forget(tables, id);
      return true;
    },
  };
}

function createPolls(tables: Tables): Pick<TaskStore, 'claimTasks' | 'renewTask' | 'recordProgress' | 'countTasks'> {
  const openRows = (): readonly Row[] => [...tables.rows.values()].filter((row) => isOpen(row.task));
  return {
    claimTasks: async ({ owner, nowMs, leaseUntilMs, limit, storingMax = limit }) => {
      const waiting = openRows()
        .filter((row) => row.task.nextPollAtMs <= nowMs && row.leaseUntilMs <= nowMs)
        .toSorted((left, right) => left.task.nextPollAtMs - right.task.nextPollAtMs || compare(left.task.id, right.task.id));
      const storing = new Set(waiting.filter(({ task }) => task.phase === 'storing').slice(storingMax));
      const due = waiting.filter((row) => !storing.has(row)).slice(0, limit);
      for (const row of due) Object.assign(row, { owner, leaseUntilMs });
      return due.map(({ task }) => structuredClone(task));
    },
    renewTask: async ({ id, owner, leaseUntilMs }) => {
      const row = leasedRow(tables, id, owner);
      if (row !== undefined) row.leaseUntilMs = leaseUntilMs;
      return row !== undefined;
    },
    recordProgress: async (progress) => {
      const row = leasedRow(tables, progress.id, progress.owner);
      if (row === undefined) return false;
      row.task = advance(row.task, progress);
      release(row);
      return true;
    },
    countTasks: async (nowMs) => {
      const open = openRows();
      const waiting = open.filter((row) => row.leaseUntilMs <= nowMs).map((row) => nowMs - row.task.nextPollAtMs);
      return {
        open: open.length,
        alerted: open.filter((row) => row.task.alert !== undefined).length,
        latenessMs: Math.max(0, ...waiting),
      };
    },
  };
}

type Queries = Pick<
  TaskStore,
  'findTask' | 'findTaskOwner' | 'listTasks' | 'deleteTask' | 'expireMedia' | 'sweepTasks' | 'unknownMedia' | 'mediaBytes' | 'heldFor'
>;

function createQueries(tables: Tables): Queries {
  const tasks = (): readonly VideoTask[] => [...tables.rows.values()].map(({ task }) => task);
  const find = ({ userName, id }: { readonly userName: string; readonly id: string }): VideoTask | undefined => {
    const task = tables.rows.get(id)?.task;
    return task?.userName === userName ? task : undefined;
  };
  return {
    findTask: async (query) => structuredClone(find(query)),
    findTaskOwner: (id) => Promise.resolve(tables.rows.get(id)?.task.userName),
    listTasks: async ({ userName, limit, order, after }) => {
      const ofUser = tasks().filter((task) => task.userName === userName);
      const sorted = ofUser.toSorted((left, right) => left.createdAtMs - right.createdAtMs || compare(left.id, right.id));
      if (order === 'desc') sorted.reverse();
      const at = sorted.findIndex(({ id }) => id === after);
      if (after !== undefined && at < 0) return [];
      return structuredClone(sorted.slice(at + 1, at + 1 + limit));
    },
    deleteTask: async (query) => {
      const task = find(query);
      if (task === undefined) return { type: 'unknown' };
      if (isOpen(task)) return { type: 'open' };
      forget(tables, query.id);
      return { type: 'deleted', ...(task.media === undefined ? {} : { mediaKey: task.media.key }) };
    },
    expireMedia: async ({ nowMs, limit }) => {
      const expired = [...tables.rows.values()]
        .filter(({ task }) => task.media !== undefined && task.expiresAtMs !== undefined && task.expiresAtMs <= nowMs)
        .toSorted((left, right) => (left.task.expiresAtMs ?? 0) - (right.task.expiresAtMs ?? 0))
        .slice(0, limit);
      return expired.flatMap((row) => {
        const { media, ...rest } = row.task;
        row.task = rest;
        return media === undefined ? [] : [media.key];
      });
    },
    sweepTasks: async ({ endedBeforeMs, limit }) => {
      const endOf = (task: VideoTask): number => task.endedAtMs ?? Number.POSITIVE_INFINITY;
      const over = tasks()
        .filter((task) => !isOpen(task) && task.media === undefined && endOf(task) < endedBeforeMs)
        .toSorted((left, right) => endOf(left) - endOf(right))
        .slice(0, limit);
      for (const { id } of over) forget(tables, id);
      return over.length;
    },
    unknownMedia: async (keys) => keys.filter((key) => !tasks().some(({ media }) => media?.key === key)),
    mediaBytes: async ({ userName, keyId }) =>
      tasks()
        .filter((task) => task.userName === userName && (keyId === undefined || task.keyId === keyId))
        .reduce((sum, { media }) => sum + (media?.bytes ?? 0), 0),
    heldFor: async (userName) =>
      tasks()
        .filter((task) => task.userName === userName && isOpen(task))
        .reduce((sum, { heldNanoUsd }) => sum + heldNanoUsd, 0n),
  };
}

const compare = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));
const keyName = ({ keyId, key }: Pick<Idempotency, 'keyId' | 'key'>): string => JSON.stringify([keyId, key]);
const isOpen = ({ phase }: VideoTask): boolean => phase !== 'completed' && phase !== 'failed';
/** Progress of a task that is not completed. */
const openProgress = (progress: number): number => Math.min(Math.max(Math.trunc(progress), 0), 99);

function openRow({ rows }: Tables, id: string): Row | undefined {
  const row = rows.get(id);
  return row !== undefined && isOpen(row.task) ? row : undefined;
}

function leasedRow(tables: Tables, id: string, owner: string): Row | undefined {
  const row = openRow(tables, id);
  return row?.owner === owner ? row : undefined;
}

function release(row: Row): void {
  Object.assign(row, { owner: undefined, leaseUntilMs: 0 });
}

function book({ ledger }: Tables, entry: CallEntry): boolean {
  if (ledger.has(entry.callId)) return false;
  ledger.set(entry.callId, structuredClone(entry));
  return true;
}

function forget({ rows, keys }: Tables, id: string): void {
  rows.delete(id);
  for (const [name, { taskId }] of keys) if (taskId === id) keys.delete(name);
}

function laterPhase(one: VideoPhase, other: VideoPhase): VideoPhase {
  return videoPhases.indexOf(other) > videoPhases.indexOf(one) ? other : one;
}

function advance(task: VideoTask, found: TaskProgress): VideoTask {
  const { missingSinceMs: _missing, alert: _alert, ...rest } = task;
  return {
    ...rest,
    phase: laterPhase(task.phase, found.phase ?? task.phase),
    progress: Math.max(task.progress, openProgress(found.progress ?? 0)),
    ...(found.result === undefined ? {} : { result: found.result }),
    lastPollAtMs: found.nowMs,
    nextPollAtMs: found.nextPollAtMs,
    pollFailures: found.pollFailures,
    ...(found.missingSinceMs === undefined ? {} : { missingSinceMs: found.missingSinceMs }),
    ...(found.alert === undefined ? {} : { alert: found.alert }),
  };
}

function endOf(task: VideoTask, end: TaskEnd, chargedNanoUsd: bigint): VideoTask {
  const { phase, error, media, durationMs, endedAtMs, expiresAtMs } = structuredClone(end);
  return {
    ...task,
    phase,
    progress: phase === 'completed' ? 100 : task.progress,
    endedAtMs,
    chargedNanoUsd,
    ...(error === undefined ? {} : { error }),
    ...(media === undefined ? {} : { media }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}
