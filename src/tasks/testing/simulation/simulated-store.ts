import assert from 'node:assert/strict';

import type { CallEntry } from '../../../billing/ledger/call-entry.ts';
import type { NewDelivery } from '../../callbacks/callback-store.ts';
import type { TaskStore } from '../../task-store.ts';
import { type VideoPhase, videoPhases, type VideoTask } from '../../video-task.ts';

type Row = { task: VideoTask; owner: string | undefined; leaseUntilMs: number };

const isOver = (phase: VideoPhase): boolean => phase === 'completed' || phase === 'failed';

/**
 * A store for simulations. It is stricter than the engines: a write that would move a task back is an error, and is not
 * corrected silently.
 */
export class SimulatedStore implements TaskStore {
  readonly rows = new Map<string, Row>();
  readonly ledger = new Map<string, CallEntry>();
  readonly deliveries: NewDelivery[] = [];
  /** Every phase of each task, with its progress. */
  readonly history = new Map<string, string[]>();
  readonly #open = new Set<string>();
  readonly #keys = new Map<string, { readonly taskId: string; readonly bodyHash: string }>();

  findKeyedTask: TaskStore['findKeyedTask'] = async ({ keyId, key, bodyHash }) => {
    const known = this.#keys.get(`${keyId} ${key}`);
    const row = known === undefined ? undefined : this.rows.get(known.taskId);
    if (known === undefined || row === undefined) return undefined;
    return known.bodyHash === bodyHash ? { type: 'existing', task: row.task } : { type: 'conflict' };
  };

  insertTask: TaskStore['insertTask'] = async (task, lease, idempotency) => {
    if (idempotency !== undefined) {
      const known = await this.findKeyedTask({ ...idempotency, nowMs: task.createdAtMs });
      if (known !== undefined) return known;
      this.#keys.set(`${idempotency.keyId} ${idempotency.key}`, { taskId: task.id, bodyHash: idempotency.bodyHash });
    }
    this.rows.set(task.id, { task, owner: lease.owner, leaseUntilMs: lease.untilMs });
    this.#open.add(task.id);
    this.#remember(task);
    return { type: 'inserted' };
  };

  acceptTask: TaskStore['acceptTask'] = async ({ id, owner, nowMs, sealed, ...accepted }) => {
    const row = this.#leased(id, owner);
    if (row?.task.phase !== 'submitting') return false;
    this.#put(row, { ...row.task, ...accepted, lastPollAtMs: nowMs, ...(sealed === undefined ? {} : { sealed }) });
    return true;
  };

  refuseTask: TaskStore['refuseTask'] = async ({ id, owner, entry }) => {
    const row = this.#leased(id, owner);
    if (row?.task.phase !== 'submitting') return false;
    this.#book(entry);
    this.rows.delete(id);
    this.#open.delete(id);
    return true;
  };

  claimTasks: TaskStore['claimTasks'] = async ({ owner, nowMs, leaseUntilMs, limit, storingMax = limit }) => {
    const due: Row[] = [];
    let storing = 0;
    for (const id of this.#open) {
      const row = this.rows.get(id);
      if (row === undefined || row.task.nextPollAtMs > nowMs || row.leaseUntilMs > nowMs) continue;
      if (row.task.phase === 'storing' && ++storing > storingMax) continue;
      due.push(row);
    }
    if (due.length > limit) due.sort((left, right) => left.task.nextPollAtMs - right.task.nextPollAtMs).splice(limit);
    for (const row of due) Object.assign(row, { owner, leaseUntilMs });
    return due.map(({ task }) => task);
  };

  renewTask: TaskStore['renewTask'] = async ({ id, owner, leaseUntilMs }) => {
    const row = this.#leased(id, owner);
    if (row !== undefined) row.leaseUntilMs = leaseUntilMs;
    return row !== undefined;
  };

  recordProgress: TaskStore['recordProgress'] = async ({ id, owner, nowMs, missingSinceMs, alert, ...found }) => {
    const row = this.#leased(id, owner);
    if (row === undefined) return false;
    const { missingSinceMs: _since, alert: _alert, ...kept } = row.task;
    const noted = { ...(missingSinceMs === undefined ? {} : { missingSinceMs }), ...(alert === undefined ? {} : { alert }) };
    this.#put(row, { ...kept, ...found, ...noted, lastPollAtMs: nowMs });
    return true;
  };

  endTask: TaskStore['endTask'] = async ({ id, owner, entry, deliveries, ...end }) => {
    const row = this.#leased(id, owner);
    if (row === undefined) return false;
    this.#book(entry);
    this.deliveries.push(...deliveries);
    const progress = end.phase === 'completed' ? 100 : row.task.progress;
    this.#put(row, { ...row.task, ...end, progress, chargedNanoUsd: entry.charge.amountNanoUsd });
    this.#open.delete(id);
    return true;
  };

  findTaskOwner: TaskStore['findTaskOwner'] = async (id) => this.rows.get(id)?.task.userName;

  findTask: TaskStore['findTask'] = async ({ userName, id }) => {
    const task = this.rows.get(id)?.task;
    return task?.userName === userName ? task : undefined;
  };

  listTasks: TaskStore['listTasks'] = async ({ userName, limit }) =>
    [...this.rows.values()]
      .map(({ task }) => task)
      .filter((task) => task.userName === userName)
      .slice(0, limit);

  deleteTask: TaskStore['deleteTask'] = async (task) => {
    const found = await this.findTask(task);
    if (found === undefined) return { type: 'unknown' };
    if (!isOver(found.phase)) return { type: 'open' };
    this.rows.delete(task.id);
    return { type: 'deleted', ...(found.media === undefined ? {} : { mediaKey: found.media.key }) };
  };

  expireMedia: TaskStore['expireMedia'] = async ({ nowMs, limit }) => {
    const keys: string[] = [];
    for (const row of this.rows.values()) {
      const { media, ...rest } = row.task;
      if (media === undefined || (row.task.expiresAtMs ?? nowMs + 1) > nowMs || keys.length === limit) continue;
      row.task = rest;
      keys.push(media.key);
    }
    return keys;
  };

  sweepTasks: TaskStore['sweepTasks'] = async () => 0;

  unknownMedia: TaskStore['unknownMedia'] = async (keys) => {
    const known = new Set([...this.rows.values()].map(({ task }) => task.media?.key));
    return keys.filter((key) => !known.has(key));
  };

  mediaBytes: TaskStore['mediaBytes'] = async () => 0;
  heldFor: TaskStore['heldFor'] = async () => 0n;

  countTasks: TaskStore['countTasks'] = async (nowMs) => {
    const open = [...this.#open].flatMap((id) => this.rows.get(id) ?? []);
    const waiting = open.filter((row) => row.leaseUntilMs <= nowMs).map((row) => nowMs - row.task.nextPollAtMs);
    const alerted = open.filter((row) => row.task.alert !== undefined).length;
    return { open: open.length, alerted, latenessMs: Math.max(0, ...waiting) };
  };

  #leased(id: string, owner: string | undefined): Row | undefined {
    const row = this.rows.get(id);
    return row !== undefined && !isOver(row.task.phase) && (owner === undefined || row.owner === owner) ? row : undefined;
  }

  #put(row: Row, task: VideoTask): void {
    const { phase, progress } = row.task;
    assert.ok(videoPhases.indexOf(task.phase) >= videoPhases.indexOf(phase), `${task.id} goes from ${phase} back to ${task.phase}`);
    assert.ok(Number.isInteger(task.progress) && task.progress >= progress, `${task.id} goes from ${progress} back to ${task.progress}`);
    assert.equal(task.progress === 100, task.phase === 'completed');
    if (task.phase === 'queued') assert.equal(task.progress, 0);
    Object.assign(row, { task, owner: undefined, leaseUntilMs: 0 });
    this.#remember(task);
  }

  #remember(task: VideoTask): void {
    const known = this.history.get(task.id) ?? [];
    if (known.at(-1) !== task.phase) known.push(task.phase);
    this.history.set(task.id, known);
  }

  #book(entry: CallEntry): void {
    assert.ok(!this.ledger.has(entry.callId), `${entry.callId} is booked twice`);
    this.ledger.set(entry.callId, entry);
  }
}
