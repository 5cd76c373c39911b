/**
 * How often an open task is asked after, by its age. Videos of a few seconds are often done within the first ten; most are within a minute. The last step leaves room for a
 * late turn and a slow claim, so that two polls of a task are never more than 10 s apart.
 */
export const pollSteps: readonly { readonly untilAgeMs: number; readonly everyMs: number }[] = [
  { untilAgeMs: 10_000, everyMs: 2000 },
  { untilAgeMs: 60_000, everyMs: 5000 },
  { untilAgeMs: Number.POSITIVE_INFINITY, everyMs: 8000 },
];

/** Intervals are shortened by up to this part, so that tasks that came together do not stay together. */
export const pollJitter = 0.1;

/** How long an upstream may take to say how a task stands. Shorter than the time to the next poll, so that a hanging one delays no other task. */
export const askTimeoutMs = 7000;

/** How long a submission that is sent again may take: uploads of pictures included. */
export const submitAgainTimeoutMs = 120_000;

/** An upstream's memory of idempotency keys is at least a day; a submission is sent again for half of that, because a second video is worse than a lost one. */
export const submitAgainForMs = 12 * 3_600_000;

/** A poll takes at most a few seconds. A process that dies keeps its tasks from the others for so long. */
export const leaseMs = 30_000;

/** Work that takes longer renews its lease so often that two renewals may fail. */
export const leaseRenewalMs = 10_000;

/** The longest that a submission is taken to be under way in this process: more than any upstream is given for it. */
export const submissionMsMax = 30 * 60_000;

/** Polls at once in one process: as many as are needed for a thousand tasks whose upstream hangs until the time limit. */
export const pollsAtOnceMax = 1024;

/** Tasks that are taken from the store together. */
export const claimMax = 256;

/** How long the poller sleeps between two looks into the store: while tasks are open, and while none is. */
export const busyTickMs = 250;
export const idleTickMs = 1000;

/** Polls in a row that told nothing, after which an operator is to look: about five minutes of them. */
export const silentPollsMax = 45;

/** How long an upstream has to deny a task before it is believed: replicas lag behind, and load balancers ask the wrong one. */
export const missingForMs = 10 * 60_000;

/** A longer pause between two polls begins that time anew, so that it holds at least ten polls. */
export const missingGapMs = 60_000;

/** Copies at once in one process, and how many more wait for their turn there. The others wait in the store, for any process. */
export const copiesAtOnceMax = 8;
export const copiesWaitingMax = 32;

/** Failed copies are tried again after twice the time of before. */
export const copyRetryMs = { first: 5000, max: 240_000, tooLarge: 3_600_000 };

/** How long a file has to be gone before it is believed, and the pause that begins that time anew: it holds at least three attempts. */
export const goneForMs = 10 * 60_000;
export const goneGapMs = 5 * 60_000;

/** How long the length of a stored file may be measured. */
export const measureTimeoutMs = 30_000;

/** Writes that a store did not take are repeated, at first after this time and at most this far apart, */
export const rewriteMs = { first: 250, max: 2000 };
/** and for so long: after that the lease has run out, and the task is found again by its row. */
export const rewriteForMs = 10 * 60_000;

/** How long a process waits when a store is back before it takes tasks: others have the answers of upstreams to write down first, whose leases ran out meanwhile. */
export const storeBackMs = 3000;

/** Sweeps: of files whose time has passed, of tasks that ended long ago, and of files that nobody has, which may be still being written for a day. */
export const expirySweepMs = 60_000;
export const taskSweepMs = 3_600_000;
export const orphanSweepMs = 6 * 3_600_000;
export const orphanAgeMs = 24 * 3_600_000;

/** How old the figures of the gauges may become. */
export const gaugeMs = 5000;

/** How late a change in another process may be noticed. */
export const watchMs = 900;

/** How long the end of the process waits for what is under way. */
export const closeMs = 5000;
