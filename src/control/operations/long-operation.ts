import type { Permission } from '../../accounts/people/permissions.ts';
import type { Change } from '../../audit/change-author.ts';

/** The states of a long operation. The last three are final. */
export const operationStates = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const;
type OperationState = (typeof operationStates)[number];

/** How far an operation is. */
export type OperationProgress = {
  readonly done: number;
  /** Absent while it is unknown. */
  readonly total?: number;
  /** The things that are counted: `calls`, `checks`. */
  readonly unit: string;
  /** The part of the result that is known, as JSON data: the finished cells of a table. */
  readonly partial?: unknown;
};

/** Why an operation failed, in words for the person who began it. */
type OperationProblem = { readonly code: string; readonly detail: string };

/** Work that takes longer than a request. Input, progress and result are JSON data without secrets. */
export type LongOperation = {
  /** `op_…` */
  readonly id: string;
  /** The work, as `<resource>.<verb>`: `prices.stage`. */
  readonly kind: string;
  readonly state: OperationState;
  /** The permission to see and to cancel it. */
  readonly permission: Permission;
  /** The person or program that began it, as the audit log names them. */
  readonly actor: string;
  readonly input: unknown;
  readonly progress?: OperationProgress;
  /** Of one that is done. Of a cancelled one it is the part that was finished. */
  readonly result?: unknown;
  readonly problem?: OperationProblem;
  /** Whether somebody has asked for its end. */
  readonly isCancelling: boolean;
  /** Grows with each change. */
  readonly version: number;
  /** How often a process has begun it: more than once if processes ended meanwhile. */
  readonly attempts: number;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
};

export type NewOperation = Pick<LongOperation, 'id' | 'kind' | 'permission' | 'actor' | 'input' | 'createdAtMs'> & {
  /** Data for the process that runs it, sealed for it. It is never shown, and erased at the end. */
  readonly sealed?: string;
  /** When it fails if no process has begun it; absent to wait without a limit. */
  readonly startByMs?: number;
};

/** An operation for the process that runs it. */
export type ClaimedOperation = LongOperation & Pick<NewOperation, 'sealed'>;

/** Which operations are listed. */
export type OperationQuery = {
  /** The operations that need one of these permissions. */
  readonly permissions: readonly Permission[];
  /** Only those that this person or program began. */
  readonly actor?: string;
  readonly kind?: string;
  readonly states?: readonly OperationState[];
  /** The operations after this one in the list. */
  readonly after?: { readonly createdAtMs: number; readonly id: string };
  readonly limit: number;
};

/** How an operation ended. */
export type OperationEnd = Pick<LongOperation, 'result' | 'problem'> & {
  readonly state: 'done' | 'failed' | 'cancelled';
  readonly endedAtMs: number;
  /** When its row is deleted. */
  readonly keepUntilMs: number;
};

/** The store of long operations. All methods reject with the store's error. */
export type OperationStore = {
  /**
   * Adds an operation. With an author, the audit log gets the row `<kind>` about `operation:<id>` in the same
   * transaction. False if `openMax` others of its kind have not ended.
   */
  readonly insertOperation: (operation: NewOperation, openMax: number, change?: Change) => Promise<boolean>;
  readonly findOperation: (id: string) => Promise<LongOperation | undefined>;
  /**
   * Operations that have not ended, or whose rows are kept until a time or longer: the newest first, at most `limit`.
   */
  readonly listOperations: (query: { readonly keptUntilMs: number; readonly limit: number }) => Promise<readonly LongOperation[]>;
  /** Newest first. */
  readonly queryOperations: (query: OperationQuery) => Promise<readonly LongOperation[]>;
  /** Leases the oldest operation of these kinds that nobody works on. */
  readonly claimOperation: (claim: {
    readonly kinds: readonly string[];
    readonly owner: string;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
  }) => Promise<ClaimedOperation | undefined>;
  /**
   * Renews a lease, and replaces the progress if there is any. `cancel`: somebody asks for its end. `lost`: another
   * process has it, or it has ended.
   */
  readonly reportOperation: (report: {
    readonly id: string;
    readonly owner: string;
    readonly leaseUntilMs: number;
    readonly progress?: OperationProgress;
  }) => Promise<'go-on' | 'cancel' | 'lost'>;
  /** Ends an operation. False if the lease is lost. */
  readonly endOperation: (id: string, owner: string, end: OperationEnd) => Promise<boolean>;
  /** Gives a lease back, so that another process continues at once. The attempt is not counted. */
  readonly releaseOperation: (id: string, owner: string) => Promise<void>;
  /**
   * Asks for the end of an operation; one that nobody has begun ends at once. Resolves with the operation afterwards,
   * which is unchanged if it had ended. Undefined if there is none.
   */
  readonly cancelOperation: (id: string, keepUntilMs: number, change: Change) => Promise<LongOperation | undefined>;
  /** Fails operations that no process has begun in time, and deletes those whose time is over. */
  readonly sweepOperations: (sweep: { readonly nowMs: number; readonly keepUntilMs: number; readonly limit: number }) => Promise<void>;
};
