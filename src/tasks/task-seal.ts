import { Type } from 'typebox';

import { compileCheckLater } from '../platform/schema/compile-check.ts';
import type { Sealer } from '../platform/seal/sealer.ts';
import type { SealedVideoRequest, VideoTask } from './video-task.ts';
import type { TaskReport } from './video-upstreams.ts';

/** An upstream's report on a finished video, stored while its file is copied. */
export type FinishedVideo = {
  /** The argument of `openResult`. */
  readonly result: string;
  readonly durationMs?: number;
  readonly raw?: unknown;
  readonly finishedAtMs: number;
};

const isVideoRequest = compileCheckLater(
  Type.Object({
    prompt: Type.String(),
    metadata: Type.String(),
    durationSeconds: Type.Optional(Type.Number()),
    resolution: Type.Optional(Type.String()),
    aspectRatio: Type.Optional(Type.String()),
    user: Type.Optional(Type.String()),
    callbackUrl: Type.Optional(Type.String()),
    retentionDays: Type.Optional(Type.Number()),
    submission: Type.Optional(
      Type.Object({ path: Type.String(), headers: Type.Record(Type.String(), Type.String()), bodyBase64: Type.String() }),
    ),
  }),
);
const isFinishedVideo = compileCheckLater(
  Type.Object({
    result: Type.String(),
    durationMs: Type.Optional(Type.Number()),
    raw: Type.Optional(Type.Unknown()),
    finishedAtMs: Type.Number(),
  }),
);

/** A vendor's figures are a few numbers. Longer evidence is not stored. */
const rawCharactersMax = 16_384;

const requestName = (id: string): Buffer => Buffer.from(`video-request\n${id}`);
const resultName = (id: string): Buffer => Buffer.from(`video-result\n${id}`);

/** Seals the request of a task, so that it opens only for this task. */
export function sealRequest(sealer: Sealer, id: string, request: SealedVideoRequest): Uint8Array<ArrayBuffer> {
  return sealer.seal(requestName(id), Buffer.from(JSON.stringify(request)));
}

/** Opens the request of a task. Undefined if it was sealed under another key or has an unknown form. */
export function openSealedRequest(sealer: Sealer, task: Pick<VideoTask, 'id' | 'sealed'>): SealedVideoRequest | undefined {
  const opened = sealer.open(requestName(task.id), task.sealed);
  const request: unknown = opened === undefined ? undefined : JSON.parse(opened.toString('utf8'));
  return isVideoRequest(request) ? request : undefined;
}

/** The part of a report that is stored. */
export function describeFinished(reading: Extract<TaskReport, { status: 'completed' }>, finishedAtMs: number): FinishedVideo {
  const { result, durationMs, raw } = reading;
  const isKept = raw !== undefined && (JSON.stringify(raw)?.length ?? Number.POSITIVE_INFINITY) <= rawCharactersMax;
  return { result, finishedAtMs, ...(durationMs === undefined ? {} : { durationMs }), ...(isKept ? { raw } : {}) };
}

/** Seals the location of a finished file, because a vendor's link opens the file for any holder. */
export function sealFinished(sealer: Sealer, id: string, finished: FinishedVideo): string {
  return Buffer.from(sealer.seal(resultName(id), Buffer.from(JSON.stringify(finished)))).toString('base64');
}

/** Opens the location. Undefined if there is none, or if it cannot be opened. */
export function openFinished(sealer: Sealer, task: Pick<VideoTask, 'id' | 'result'>): FinishedVideo | undefined {
  if (task.result === undefined) return undefined;
  const opened = sealer.open(resultName(task.id), Buffer.from(task.result, 'base64'));
  const finished: unknown = opened === undefined ? undefined : JSON.parse(opened.toString('utf8'));
  return isFinishedVideo(finished) ? finished : undefined;
}
