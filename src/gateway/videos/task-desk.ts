import type { Idempotency, TaskPage } from '../../tasks/task-store.ts';
import type { SealedVideoRequest, VideoTask } from '../../tasks/video-task.ts';
import type { TaskReading } from '../../tasks/video-upstreams.ts';

/** What is known of a task before its upstream is asked. */
export type NewVideoTask = Pick<
  VideoTask,
  | 'callId'
  | 'userName'
  | 'keyId'
  | 'keyName'
  | 'form'
  | 'mode'
  | 'requestedModel'
  | 'upstream'
  | 'credentialId'
  | 'vendor'
  | 'upstreamModel'
  | 'protocol'
  | 'createdAtMs'
  | 'remixedFrom'
  | 'priceVersion'
  | 'pricingParameters'
  | 'heldUsage'
  | 'heldNanoUsd'
> & { readonly request: SealedVideoRequest };

export type TaskDesk = {
  readonly begin: (
    intent: NewVideoTask,
    idempotency?: Idempotency,
  ) => Promise<{ readonly type: 'begun' | 'existing'; readonly task: VideoTask }>;
  readonly accept: (task: VideoTask, upstreamTaskId: string, reading: TaskReading) => Promise<VideoTask>;
  readonly refuse: (
    task: VideoTask,
    refusal: { readonly errorCode: string; readonly upstreamStatus?: number; readonly durationMs: number },
  ) => Promise<void>;
  readonly leaveUnclear: (task: VideoTask) => Promise<VideoTask>;
  readonly find: (userName: string, id: string) => Promise<VideoTask | undefined>;
  readonly list: (page: TaskPage) => Promise<readonly VideoTask[]>;
  readonly delete: (userName: string, id: string) => Promise<'deleted' | 'unknown' | 'open'>;
  readonly openRequest: (task: VideoTask) => SealedVideoRequest | undefined;
  readonly watch: (userName: string, id: string, signal: AbortSignal) => AsyncIterable<VideoTask>;
  readonly mediaBytes: (of: { readonly userName: string; readonly keyId?: string }) => Promise<number>;
};
