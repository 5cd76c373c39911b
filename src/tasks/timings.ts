/**
 * Poll intervals by the age of a task. Short videos are often finished within ten seconds, and most within a minute.
 * The last step allows for a late timer and a slow claim, so that two polls of a task are never more than 10 s apart.
 */
export const pollSteps: readonly { readonly untilAgeMs: number; readonly everyMs: number }[] = [
  { untilAgeMs: 10_000, everyMs: 2000 },
  { untilAgeMs: 60_000, everyMs: 5000 },
  { untilAgeMs: Number.POSITIVE_INFINITY, everyMs: 8000 },
];

/** Intervals are shortened by up to this share, so that tasks that began together spread out. */
export const pollJitter = 0.1;

/** The limit of a poll. It is shorter than the poll interval, so that an upstream that hangs delays no other task. */
export const askTimeoutMs = 7000;

/** The limit for sending a submission again, with uploads of images. */
export const submitAgainTimeoutMs = 120_000;

/**
 * Upstreams remember idempotency keys for at least a day. A submission is sent again for half of that, because a second
 * video is worse than a lost one.
 */
export const submitAgainForMs = 12 * 3_600_000;

/** After a process dies, its tasks are blocked for this time. A poll takes at most a few seconds. */
export const leaseMs = 30_000;

/** Longer work renews its lease in this interval, so that two renewals may fail. */
export const leaseRenewalMs = 10_000;

/** The longest time that a submission may run in this process: more than the limit of any upstream. */
export const submissionMsMax = 30 * 60_000;

/** Concurrent polls of one process: enough for a thousand tasks whose upstream hangs until the limit. */
export const pollsAtOnceMax = 1024;

/** Tasks that are leased in one query. */
export const claimMax = 256;

/** Pause of the poller between two queries: while tasks are open, and while there are none. */
export const busyTickMs = 250;
export const idleTickMs = 1000;

/** Consecutive unclear polls after which an alert is raised: about five minutes. */
export const silentPollsMax = 45;

/**
 * How long an upstream must deny a task before it counts as lost, because replicas lag and load balancers choose the
 * wrong one.
 */
export const missingForMs = 10 * 60_000;

/** A longer pause between two polls restarts this time, so that it covers at least ten polls. */
export const missingGapMs = 60_000;

/** Concurrent and waiting copies of one process. The others wait in the store, for any process. */
export const copiesAtOnceMax = 8;
export const copiesWaitingMax = 32;

/** Pauses before the retry of a copy, doubled after each failure. */
export const copyRetryMs = { first: 5000, max: 240_000, tooLarge: 3_600_000 };

/**
 * How long a file must be gone before it counts as lost, and the pause that restarts this time. It covers at least
 * three attempts.
 */
export const goneForMs = 10 * 60_000;
export const goneGapMs = 5 * 60_000;

/** The limit for measuring a stored file. */
export const measureTimeoutMs = 30_000;

/** Pauses before failed writes are repeated: the first one, and the longest one, */
export const rewriteMs = { first: 250, max: 2000 };
/** and the time for which they are repeated. After it the lease has expired, and the task is found by its row. */
export const rewriteForMs = 10 * 60_000;

/**
 * How long a process waits after an outage of the store before it takes tasks, because others must first record answers
 * whose leases have expired.
 */
export const storeBackMs = 3000;

/**
 * Intervals of the sweeps: of expired files, of old tasks, and of abandoned files, which are deleted when they are a
 * day old.
 */
export const expirySweepMs = 60_000;
export const taskSweepMs = 3_600_000;
export const orphanSweepMs = 6 * 3_600_000;
export const orphanAgeMs = 24 * 3_600_000;

/** The greatest age of the gauges' figures. */
export const gaugeMs = 5000;

/** The delay until a change by another process is noticed. */
export const watchMs = 900;

/** How long a process that stops waits for running work. */
export const closeMs = 5000;
