import type { Change } from '../audit/change-author.ts';
import type { CallEntry } from '../billing/ledger/call-entry.ts';
import type { VideoError } from '../inference/video.ts';
import type { NewDelivery } from './callbacks/callback-store.ts';
import type { StoredMedia, VideoTask } from './video-task.ts';

/** A page of tasks by time of creation. */
export type TaskPage = {
  readonly userName: string;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** The page begins after this id. An unknown id gives an empty page. */
  readonly after?: string | undefined;
};

/** Prevents that a request is executed twice: the client's key, unique to its API key, and a hash of the request. */
export type Idempotency = { readonly keyId: string; readonly key: string; readonly bodyHash: string; readonly untilMs: number };

/** The process that works on a task. Another process may take an expired lease. */
type TaskLease = { readonly id: string; readonly owner: string };

/** The result of a poll. Absent fields stay unchanged. The store ensures that phase and progress never go back. */
export type TaskProgress = TaskLease & {
  readonly phase?: 'queued' | 'in_progress' | 'storing';
  readonly progress?: number;
  readonly result?: string;
  readonly nowMs: number;
  readonly nextPollAtMs: number;
  readonly pollFailures: number;
  readonly missingSinceMs: number | undefined;
  readonly alert: VideoTask['alert'];
};

/** The end of a task with its ledger entry and callbacks, for one transaction. */
export type TaskEnd = {
  readonly id: string;
  /** The owner of the lease; absent if the submission itself ends the task. */
  readonly owner?: string;
  readonly phase: 'completed' | 'failed';
  readonly error?: VideoError;
  readonly media?: StoredMedia;
  readonly durationMs?: number;
  readonly endedAtMs: number;
  readonly expiresAtMs?: number;
  /** The ledger entry with the charge. It is added once, with its statistics. */
  readonly entry: CallEntry;
  readonly deliveries: readonly NewDelivery[];
};

/** The store that tasks need. */
export type TaskStore = {
  /** The task of an idempotency key; undefined if there is none, or if the key has expired. */
  readonly findKeyedTask: (
    asked: Omit<Idempotency, 'untilMs'> & { readonly nowMs: number },
  ) => Promise<{ readonly type: 'existing'; readonly task: VideoTask } | { readonly type: 'conflict' } | undefined>;
  /**
   * Records the intent to make a video, before the upstream is called. If the idempotency key exists, its task is
   * returned, or `conflict` if the body differs. The hold comes from the leases of `nodeId`, and belongs to the task
   * from then on.
   */
  readonly insertTask: (
    task: VideoTask,
    lease: { readonly owner: string; readonly untilMs: number },
    idempotency?: Idempotency,
    nodeId?: string,
  ) => Promise<{ readonly type: 'inserted' } | { readonly type: 'existing'; readonly task: VideoTask } | { readonly type: 'conflict' }>;
  /** Records the acceptance by the upstream and releases the lease. False if the task is no longer being submitted. */
  readonly acceptTask: (
    accepted: TaskLease & {
      readonly upstreamTaskId: string;
      readonly phase: 'queued' | 'in_progress';
      readonly progress: number;
      readonly nowMs: number;
      readonly nextPollAtMs: number;
      /** Replaces the sealed request: an accepted submission is not sent again, so its images need not be stored. */
      readonly sealed?: Uint8Array<ArrayBuffer>;
    },
  ) => Promise<boolean>;
  /**
   * Deletes an intent that the upstream refused, and adds its ledger entry. False if the task is no longer being
   * submitted.
   */
  readonly refuseTask: (refused: TaskLease & { readonly entry: CallEntry }) => Promise<boolean>;
  /**
   * Leases due open tasks without an owner, longest waiting first. At most `storingMax` of them are `storing`, so that
   * a process without room for copies leaves them to others.
   */
  readonly claimTasks: (claim: {
    readonly owner: string;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
    readonly limit: number;
    /** Default: no limit. */
    readonly storingMax?: number;
  }) => Promise<readonly VideoTask[]>;
  /** False if the lease is lost or the task has ended. */
  readonly renewTask: (lease: TaskLease & { readonly leaseUntilMs: number }) => Promise<boolean>;
  /** Records the result of a poll and releases the lease. False if the lease is lost or the task has ended. */
  readonly recordProgress: (progress: TaskProgress) => Promise<boolean>;
  /**
   * Ends a task, charges it and queues its callbacks. False, without a change, if it has ended or another process has
   * the lease.
   */
  readonly endTask: (end: TaskEnd) => Promise<boolean>;
  /** A task of this user, also one that is being submitted, but not a deleted one. */
  readonly findTask: (task: { readonly userName: string; readonly id: string }) => Promise<VideoTask | undefined>;
  /** The user of a task, for clients with a link instead of a key. Undefined if it was deleted or never existed. */
  readonly findTaskOwner: (id: string) => Promise<string | undefined>;
  readonly listTasks: (page: TaskPage) => Promise<readonly VideoTask[]>;
  /**
   * Deletes an ended task and resolves with the key of its file, which has no owner then; `open` if it has not ended.
   */
  readonly deleteTask: (task: {
    readonly userName: string;
    readonly id: string;
    /** Given if an operator deletes it: then it is in the audit log. */
    readonly change?: Change;
  }) => Promise<{ readonly type: 'deleted'; readonly mediaKey?: string } | { readonly type: 'unknown' } | { readonly type: 'open' }>;
  /**
   * Removes expired files from their tasks, deletes the rows of expired images, and resolves with the keys of the
   * files. The tasks stay.
   */
  readonly expireMedia: (sweep: { readonly nowMs: number; readonly limit: number }) => Promise<readonly string[]>;
  /**
   * Deletes tasks and their requests, oldest first, if they ended before a time and have no file. Their ledger entries
   * stay. Resolves with their number.
   */
  readonly sweepTasks: (sweep: { readonly endedBeforeMs: number; readonly limit: number }) => Promise<number>;
  /** The keys among these that belong to no task and no image. */
  readonly unknownMedia: (keys: readonly string[]) => Promise<readonly string[]>;
  /** Bytes of the files of a user or of one key: videos, and images with links. */
  readonly mediaBytes: (of: { readonly userName: string; readonly keyId?: string }) => Promise<number>;
  /** Open tasks, those with an alert, and the delay of the poll that is overdue the longest. */
  readonly countTasks: (nowMs: number) => Promise<{ readonly open: number; readonly alerted: number; readonly latenessMs: number }>;
  /** The holds of a user's open tasks, in nano-USD. */
  readonly heldFor: (userName: string) => Promise<bigint>;
};
