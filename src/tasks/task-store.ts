import type { CallEntry } from '../billing/ledger/call-entry.ts';
import type { VideoError } from '../inference/video.ts';
import type { NewDelivery } from './callbacks/callback-store.ts';
import type { StoredMedia, VideoTask } from './video-task.ts';

/** A page of tasks by time of creation. */
export type TaskPage = {
  readonly userName: string;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Id that the page follows. One that is not in the list gives an empty page. */
  readonly after?: string | undefined;
};

/** A request that is not to be done twice: the key that the client gave it, unique to its API key, and a hash of what was asked. */
export type Idempotency = { readonly keyId: string; readonly key: string; readonly bodyHash: string; readonly untilMs: number };

/** Who works on a task. A lease that has run out may be taken by another process. */
type TaskLease = { readonly id: string; readonly owner: string };

/** What a poll has found. What is absent stays as it is. Phase and progress never go back: the store sees to it. */
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

/** The end of a task, with all that belongs to it: one transaction. */
export type TaskEnd = {
  readonly id: string;
  /** The worker whose lease it is; absent where the end comes from the submission itself. */
  readonly owner?: string;
  readonly phase: 'completed' | 'failed';
  readonly error?: VideoError;
  readonly media?: StoredMedia;
  readonly durationMs?: number;
  readonly endedAtMs: number;
  readonly expiresAtMs?: number;
  /** The ledger row: what it is charged. Added together with the statistics it adds to, once. */
  readonly entry: CallEntry;
  readonly deliveries: readonly NewDelivery[];
};

/** What tasks need of a store. */
export type TaskStore = {
  /** What was made under an idempotency key already; undefined where nothing was, or its time is over. */
  readonly findKeyedTask: (
    asked: Omit<Idempotency, 'untilMs'> & { readonly nowMs: number },
  ) => Promise<{ readonly type: 'existing'; readonly task: VideoTask } | { readonly type: 'conflict' } | undefined>;
  /**
   * Records the intent to make a video, before the upstream is asked. Under an idempotency key that is taken the task that has it is returned instead, or `conflict` where that was asked for
   * with another body. What is held for it comes out of what `nodeId` has leased, and counts as the task's own from then on.
   */
  readonly insertTask: (
    task: VideoTask,
    lease: { readonly owner: string; readonly untilMs: number },
    idempotency?: Idempotency,
    nodeId?: string,
  ) => Promise<{ readonly type: 'inserted' } | { readonly type: 'existing'; readonly task: VideoTask } | { readonly type: 'conflict' }>;
  /** The upstream has taken it. False when it is no longer being submitted. Gives the lease back. */
  readonly acceptTask: (
    accepted: TaskLease & {
      readonly upstreamTaskId: string;
      readonly phase: 'queued' | 'in_progress';
      readonly progress: number;
      readonly nowMs: number;
      readonly nextPollAtMs: number;
      /** Replaces what was sealed: a submission that was taken is not sent again, and its pictures need not be kept. */
      readonly sealed?: Uint8Array<ArrayBuffer>;
    },
  ) => Promise<boolean>;
  /** Removes an intent that the upstream refused, and adds its ledger row. False when it is no longer being submitted. */
  readonly refuseTask: (refused: TaskLease & { readonly entry: CallEntry }) => Promise<boolean>;
  /**
   * Takes open tasks that are due and that nobody works on, those that have waited longest first. Those that are `storing` are left to others beyond `storingMax`: a process
   * that has no place for a copy must not keep it from one that has.
   */
  readonly claimTasks: (claim: {
    readonly owner: string;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
    readonly limit: number;
    /** By default as many as there are. */
    readonly storingMax?: number;
  }) => Promise<readonly VideoTask[]>;
  /** False when the lease is lost or the task is over. */
  readonly renewTask: (lease: TaskLease & { readonly leaseUntilMs: number }) => Promise<boolean>;
  /** Writes down what a poll has found and gives the lease back. False when the lease is lost or the task is over. */
  readonly recordProgress: (progress: TaskProgress) => Promise<boolean>;
  /** Ends a task, charges it and queues its callbacks. False when it is over already or the lease is another's: then nothing is changed. */
  readonly endTask: (end: TaskEnd) => Promise<boolean>;
  /** A task of this user. One that is only being submitted is found too; a deleted one is not. */
  readonly findTask: (task: { readonly userName: string; readonly id: string }) => Promise<VideoTask | undefined>;
  /** Whose task it is, for those who come with a link instead of a key. Undefined for one that was deleted, as for one that never was. */
  readonly findTaskOwner: (id: string) => Promise<string | undefined>;
  readonly listTasks: (page: TaskPage) => Promise<readonly VideoTask[]>;
  /** Forgets a task that is over and resolves with the key of its file, which is then nobody's; `open` while it is not over. */
  readonly deleteTask: (task: {
    readonly userName: string;
    readonly id: string;
  }) => Promise<{ readonly type: 'deleted'; readonly mediaKey?: string } | { readonly type: 'unknown' } | { readonly type: 'open' }>;
  /** Takes the files of tasks whose time has passed away from them, forgets pictures likewise, and resolves with the keys of the files. The tasks stay. */
  readonly expireMedia: (sweep: { readonly nowMs: number; readonly limit: number }) => Promise<readonly string[]>;
  /**
   * Forgets tasks that ended before a time and have no file any more, the oldest first, with all that was said in their requests; their ledger rows stay. Resolves with how many.
   */
  readonly sweepTasks: (sweep: { readonly endedBeforeMs: number; readonly limit: number }) => Promise<number>;
  /** Which of these keys no task and no picture has. */
  readonly unknownMedia: (keys: readonly string[]) => Promise<readonly string[]>;
  /** Bytes of the files of a user, or of one key: videos, and pictures with links. */
  readonly mediaBytes: (of: { readonly userName: string; readonly keyId?: string }) => Promise<number>;
  /** Open tasks, how many of them have an alert, and how late the one is that should have been polled longest ago. */
  readonly countTasks: (nowMs: number) => Promise<{ readonly open: number; readonly alerted: number; readonly latenessMs: number }>;
  /** What is held for a user's open tasks, in nano-USD. */
  readonly heldFor: (userName: string) => Promise<bigint>;
};
