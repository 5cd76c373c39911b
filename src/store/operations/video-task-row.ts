import type { VideoError } from '../../inference/video.ts';
import type { VideoPhase, VideoTask } from '../../tasks/video-task.ts';
import { toStorableText } from '../storable-text.ts';
import { StoreError } from '../store-error.ts';
import type { SqlRow, SqlValue } from './sql-values.ts';
import { readBigInt, readBytes, readInteger, readOptionalInteger, readOptionalText, readReal, readText } from './read-column.ts';

/**
 * The columns of `video_tasks` that belong to a task. Its request is in `video_requests`; the columns of the lease are
 * not needed outside SQL.
 */
export const taskColumns = [
  'id',
  'user_name',
  'key_id',
  'facts',
  'phase',
  'progress',
  'created_at_ms',
  'ended_at_ms',
  'upstream_task_id',
  'held_nano_usd',
  'charged_nano_usd',
  'error',
  'result',
  'media_key',
  'media_type',
  'media_bytes',
  'media_sha256',
  'duration_ms',
  'expires_at_ms',
  'next_poll_at_ms',
  'last_poll_at_ms',
  'poll_failures',
  'missing_since_ms',
  'alert_since_ms',
  'alert_reason',
  'team_id',
  'payer',
] as const;

/** The ranks of the schema. Databases contain them, so they must not change, even if the list of phases does. */
const phaseRanks: Readonly<Record<VideoPhase, number>> = { submitting: 0, queued: 1, in_progress: 2, storing: 3, completed: 4, failed: 5 };
const phases = new Map(Object.entries(phaseRanks).map(([phase, rank]) => [rank, phase as VideoPhase]));

export const rankOf = (phase: VideoPhase): number => phaseRanks[phase];

/** Values that never change and are never searched for. JSON stores them exactly, whatever characters they contain. */
type TaskFacts = Pick<
  VideoTask,
  | 'callId'
  | 'keyName'
  | 'tags'
  | 'form'
  | 'mode'
  | 'requestedModel'
  | 'upstream'
  | 'credentialId'
  | 'vendor'
  | 'upstreamModel'
  | 'protocol'
  | 'remixedFrom'
  | 'priceVersion'
  | 'pricingParameters'
  | 'heldUsage'
  | 'team'
  | 'payer'
>;

/**
 * The values of a task's row in the order of taskColumns. Throws StoreError `constraint` for a number or an amount that
 * cannot be stored.
 */
export function encodeTask(task: VideoTask): readonly SqlValue[] {
  const values: Readonly<Record<(typeof taskColumns)[number], SqlValue>> = {
    id: toStorableText(task.id),
    user_name: toStorableText(task.userName),
    key_id: toStorableText(task.keyId),
    facts: encodeFacts(task),
    phase: rankOf(task.phase),
    progress: toWhole(task.progress),
    created_at_ms: toWhole(task.createdAtMs),
    ended_at_ms: toOptionalWhole(task.endedAtMs),
    upstream_task_id: toOptionalText(task.upstreamTaskId),
    held_nano_usd: toAmount(task.heldNanoUsd),
    charged_nano_usd: task.chargedNanoUsd === undefined ? null : toAmount(task.chargedNanoUsd),
    error: encodeError(task.error),
    result: toOptionalText(task.result),
    media_key: toOptionalText(task.media?.key),
    media_type: toOptionalText(task.media?.mediaType),
    media_bytes: toOptionalWhole(task.media?.bytes),
    media_sha256: toOptionalText(task.media?.sha256),
    duration_ms: task.durationMs ?? null,
    expires_at_ms: toOptionalWhole(task.expiresAtMs),
    next_poll_at_ms: toWhole(task.nextPollAtMs),
    last_poll_at_ms: toOptionalWhole(task.lastPollAtMs),
    poll_failures: toWhole(task.pollFailures),
    missing_since_ms: toOptionalWhole(task.missingSinceMs),
    alert_since_ms: toOptionalWhole(task.alert?.sinceMs),
    alert_reason: toOptionalText(task.alert?.reason),
    team_id: toOptionalText(task.team?.id),
    payer: task.payer ?? null,
  };
  return taskColumns.map((column) => values[column]);
}

function encodeFacts(task: VideoTask): string {
  const { callId, keyName, form, mode, requestedModel, upstream, credentialId, vendor, upstreamModel, protocol } = task;
  const { remixedFrom, priceVersion, pricingParameters, heldUsage } = task;
  const facts = { callId, keyName, form, mode, requestedModel, upstream, credentialId, vendor, upstreamModel, protocol };
  const priced = { priceVersion, pricingParameters, heldUsage };
  const { tags, team, payer } = task;
  const optional = {
    ...present('remixedFrom', remixedFrom),
    ...present('tags', tags),
    ...present('team', team),
    ...present('payer', payer),
  };
  return JSON.stringify({ ...facts, ...priced, ...optional } satisfies TaskFacts);
}

/** Reads a task from a row that also has the column `sealed`. */
export function decodeTask(row: SqlRow): VideoTask {
  return {
    ...(readJson(row, 'facts') as TaskFacts),
    id: readText(row, 'id'),
    userName: readText(row, 'user_name'),
    keyId: readText(row, 'key_id'),
    phase: readPhase(row),
    progress: readInteger(row, 'progress'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    sealed: readBytes(row, 'sealed'),
    heldNanoUsd: readBigInt(row, 'held_nano_usd'),
    nextPollAtMs: readInteger(row, 'next_poll_at_ms'),
    pollFailures: readInteger(row, 'poll_failures'),
    ...present('upstreamTaskId', readOptionalText(row, 'upstream_task_id')),
    ...present('result', readOptionalText(row, 'result')),
    ...present('lastPollAtMs', readOptionalInteger(row, 'last_poll_at_ms')),
    ...present('missingSinceMs', readOptionalInteger(row, 'missing_since_ms')),
    ...readAlert(row),
    ...readEnd(row),
  };
}

function readEnd(row: SqlRow): Partial<VideoTask> {
  return {
    ...present('endedAtMs', readOptionalInteger(row, 'ended_at_ms')),
    ...present('expiresAtMs', readOptionalInteger(row, 'expires_at_ms')),
    ...(row['charged_nano_usd'] === null ? {} : { chargedNanoUsd: readBigInt(row, 'charged_nano_usd') }),
    ...(row['duration_ms'] === null ? {} : { durationMs: readReal(row, 'duration_ms') }),
    ...(row['error'] === null ? {} : { error: readJson(row, 'error') as VideoError }),
    ...readMedia(row),
  };
}

function readMedia(row: SqlRow): Pick<VideoTask, 'media'> {
  const key = readOptionalText(row, 'media_key');
  if (key === undefined) return {};
  const mediaType = readText(row, 'media_type');
  return { media: { key, mediaType, bytes: readInteger(row, 'media_bytes'), sha256: readText(row, 'media_sha256') } };
}

function readAlert(row: SqlRow): Pick<VideoTask, 'alert'> {
  const sinceMs = readOptionalInteger(row, 'alert_since_ms');
  return sinceMs === undefined ? {} : { alert: { sinceMs, reason: readText(row, 'alert_reason') } };
}

function readPhase(row: SqlRow): VideoPhase {
  const phase = phases.get(readInteger(row, 'phase'));
  if (phase === undefined) throw new StoreError('corrupt', 'Column phase is not a known phase.');
  return phase;
}

function readJson(row: SqlRow, column: string): unknown {
  try {
    return JSON.parse(readText(row, column));
  } catch (cause) {
    throw new StoreError('corrupt', `Column ${column} is not valid JSON.`, { cause });
  }
}

function present<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]: Value });
}

export function encodeError(error: VideoError | undefined): string | null {
  return error === undefined ? null : JSON.stringify({ code: error.code, message: error.message } satisfies VideoError);
}

export function toOptionalText(text: string | undefined): string | null {
  return text === undefined ? null : toStorableText(text);
}

/**
 * A number for an integer column: rounded, because times are sums of fractions. Any other value is refused here,
 * because a row that cannot be read would block all the others.
 */
export function toWhole(value: number): number {
  const whole = Math.round(value);
  if (Number.isSafeInteger(whole)) return whole;
  throw new StoreError('constraint', `A number must be finite and within 64 bits to be stored; got ${value}.`);
}

/** The progress of a task that is not completed. */
export function toOpenProgress(progress: number): number {
  return Math.min(Math.max(toWhole(Math.trunc(progress)), 0), 99);
}

export function toOptionalWhole(value: number | undefined): number | null {
  return value === undefined ? null : toWhole(value);
}

/** Amounts have 64 bits: up to 9.2 billion USD. */
function toAmount(nanoUsd: bigint): bigint {
  if (BigInt.asIntN(64, nanoUsd) === nanoUsd) return nanoUsd;
  throw new StoreError('constraint', 'An amount cannot be stored: it exceeds 64 bits.');
}
