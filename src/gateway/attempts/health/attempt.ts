import { hash } from 'node:crypto';

import type { FailureStreak } from './failure-signs.ts';
import type { HealthQuery, AttemptTicket, AttemptVerdict } from './health.ts';

/** The caller of attempts without a caller. */
export const nobody = '';

/** The facts that are counted when an attempt is sent. */
type SentAttempt = {
  /** Grows with every attempt of the process, from 1. */
  readonly number: number;
  readonly sentMs: number;
  /** Where it was counted: the epoch of waiting and the bucket of the window. */
  readonly epoch: number;
  readonly bucket: number;
  /** Absent: the attempt is a call of its own, without a caller. */
  readonly call: HealthQuery | undefined;
};

/** Called for the events of an attempt, each at most once. */
export type AttemptListener = {
  readonly headArrived: (attempt: Attempt) => void;
  readonly contentArrived: (attempt: Attempt) => void;
  readonly ended: (attempt: Attempt, verdict: AttemptVerdict) => void;
};

/** A running attempt. It reports each event once, and none after its end. */
export class Attempt implements AttemptTicket, SentAttempt {
  readonly number: number;
  readonly sentMs: number;
  readonly epoch: number;
  readonly bucket: number;
  /** The time of its head; -1 before. */
  headMs = -1;
  readonly call: HealthQuery | undefined;
  isProbe = false;
  hasContent = false;
  /** The streak of failures that its first content ended, if there was one. */
  streakBefore: FailureStreak | undefined;
  readonly #listener: AttemptListener;
  #hasEnded = false;

  constructor(listener: AttemptListener, { number, sentMs, epoch, bucket, call }: SentAttempt) {
    this.#listener = listener;
    this.number = number;
    this.sentMs = sentMs;
    this.epoch = epoch;
    this.bucket = bucket;
    this.call = call;
  }

  get caller(): string {
    return this.call?.caller ?? nobody;
  }

  headArrived(): void {
    if (this.#hasEnded || this.headMs >= 0) return;
    this.#listener.headArrived(this);
  }

  contentArrived(): void {
    if (this.#hasEnded || this.hasContent) return;
    this.headArrived();
    this.hasContent = true;
    this.#listener.contentArrived(this);
  }

  end(verdict: AttemptVerdict): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#listener.ended(this, verdict);
  }
}

/** Bytes of the beginning and of the end that are hashed: requests of one conversation differ in their last turn. */
const headBytes = 16 * 1024;
const tailBytes = 48 * 1024;

/** A digest of a request, cheap at any size. */
export function digestRequest(bytes: Buffer): string {
  const { length } = bytes;
  if (length <= headBytes + tailBytes) return `${length} ${hash('sha1', bytes)}`;
  return `${length} ${hash('sha1', bytes.subarray(0, headBytes))} ${hash('sha1', bytes.subarray(length - tailBytes))}`;
}
