import { hash } from 'node:crypto';

import type { CallerRow } from './failure-signs.ts';
import type { AskingCall, AttemptTicket, AttemptVerdict } from './health.ts';

/** Who calls where nobody says so. */
export const nobody = '';

/** What is counted of an attempt when it is sent. */
type SentAttempt = {
  /** Grows with every attempt in the process, from 1. */
  readonly number: number;
  readonly sentMs: number;
  /** Where it was counted: the epoch of waiting and the bucket of the window. */
  readonly epoch: number;
  readonly bucket: number;
  /** Absent: the attempt is a call of its own, of nobody. */
  readonly call: AskingCall | undefined;
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
  readonly call: AskingCall | undefined;
  isProbe = false;
  hasContent = false;
  /** The row of failures that its first content ended, where there was one. */
  rowBefore: CallerRow | undefined;
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

  /** Whose it is. */
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

/** Bytes that are looked at from the beginning and from the end: requests that go on from the same conversation differ in their last turn. */
const headBytes = 16 * 1024;
const tailBytes = 48 * 1024;

/** A digest of a request, cheap for one of any size. */
export function digestRequest(bytes: Buffer): string {
  const { length } = bytes;
  if (length <= headBytes + tailBytes) return `${length} ${hash('sha1', bytes)}`;
  return `${length} ${hash('sha1', bytes.subarray(0, headBytes))} ${hash('sha1', bytes.subarray(length - tailBytes))}`;
}
