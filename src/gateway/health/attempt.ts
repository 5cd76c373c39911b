import type { AttemptTicket, AttemptVerdict } from './health.ts';

/** What is counted of an attempt when it is sent. */
type SentAttempt = {
  /** Grows with every attempt in the process, from 1. */
  readonly number: number;
  readonly sentMs: number;
  /** Where it was counted: the epoch of waiting and the bucket of the window. */
  readonly epoch: number;
  readonly bucket: number;
};

/** Who hears of an attempt; each word once at most. */
export type AttemptListener = {
  readonly headArrived: (attempt: Attempt) => void;
  readonly contentArrived: (attempt: Attempt) => void;
  readonly ended: (attempt: Attempt, verdict: AttemptVerdict) => void;
};

/** An attempt under way. It takes care that nothing is heard of it twice, or after its end. */
export class Attempt implements AttemptTicket, SentAttempt {
  readonly number: number;
  readonly sentMs: number;
  readonly epoch: number;
  readonly bucket: number;
  /** When its head came; -1 before that. */
  headMs = -1;
  isProbe = false;
  /** How many failures in a row its first content ended; -1 before that. */
  rowBefore = -1;
  readonly #listener: AttemptListener;
  #hasEnded = false;

  constructor(listener: AttemptListener, { number, sentMs, epoch, bucket }: SentAttempt) {
    this.#listener = listener;
    this.number = number;
    this.sentMs = sentMs;
    this.epoch = epoch;
    this.bucket = bucket;
  }

  headArrived(): void {
    if (this.#hasEnded || this.headMs >= 0) return;
    this.#listener.headArrived(this);
  }

  contentArrived(): void {
    if (this.#hasEnded || this.rowBefore >= 0) return;
    this.headArrived();
    this.#listener.contentArrived(this);
  }

  end(verdict: AttemptVerdict): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#listener.ended(this, verdict);
  }
}
