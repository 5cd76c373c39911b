import type { DisconnectPolicy } from '../../../billing/ledger/call-entry.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import { tokensOfSide } from '../../../inference/meters.ts';
import type { Usage } from '../../../inference/usage.ts';

/** That a client has left its call before the end, as the exchange saw it. */
export type Departure = {
  readonly policy: DisconnectPolicy;
  /** Characters of content that had been handed to the client's connection. */
  readonly deliveredCharacters: number;
};

/** What an exchange does when its client leaves. */
export type LeavingRule = {
  readonly policy: DisconnectPolicy;
  /** Where a reply is read on for which nobody waits; absent where there is no place for any. */
  readonly slots?: DrainSlots | undefined;
  /** Characters of content that have been handed to the client, where whoever takes the reply does not hand on all of it; absent: the exchange counts them. */
  readonly delivered?: (() => number) | undefined;
};

/** How long a reply is read at most for which nobody waits, and how many of them at a time: they hold connections of upstreams. */
const drainMsMax = 30_000;
const drainsMax = 64;

/** The replies that are read on although their clients have left, because their upstreams bill them in any case. */
export class DrainSlots {
  readonly #ends = new Set<() => void>();
  readonly #limits: { readonly ms: number; readonly count: number };

  constructor(limits = { ms: drainMsMax, count: drainsMax }) {
    this.#limits = limits;
  }

  get taken(): number {
    return this.#ends.size;
  }

  /**
   * Takes a place.
   * @param end called once when the time is over, or the gateway ends; never after the place was given back
   * @returns what gives it back; undefined where none is free
   */
  take(end: () => void): (() => void) | undefined {
    if (this.#ends.size >= this.#limits.count) return undefined;
    const release = (): void => {
      clearTimeout(timer);
      this.#ends.delete(stop);
    };
    const stop = (): void => {
      release();
      end();
    };
    const timer = setTimeout(stop, this.#limits.ms).unref();
    this.#ends.add(stop);
    return release;
  }

  /** The gateway ends: whatever is read on is settled by what is known. */
  endAll(): void {
    for (const stop of this.#ends) stop();
  }
}

/** An encoder of events, whose writing is empty where it has nothing to say yet. */
type WritesEvents<Written> = { readonly write: (event: InferenceEvent) => Written };

/**
 * Counts the characters of content that have reached the bytes of a client's reply. What an encoder keeps back, as it does with arguments that its dialect wants whole, counts when it
 * is written; what it never writes, as reasoning that its client does not see, never does.
 */
export class DeliveredCount {
  #characters = 0;
  /** By block: what was taken in and not written yet. */
  readonly #kept = new Map<number, number>();

  get characters(): number {
    return this.#characters;
  }

  /** What an encoder makes of an event. */
  encode<Written extends { readonly length: number }>(encoder: WritesEvents<Written>, event: InferenceEvent): Written {
    const written = encoder.write(event);
    this.#wrote(event, written.length > 0);
    return written;
  }

  #wrote(event: InferenceEvent, isWritten: boolean): void {
    if (event.type !== 'delta' && event.type !== 'block-ended') return;
    const { index } = event;
    const characters = (event.type === 'delta' ? event.text.length : 0) + (this.#kept.get(index) ?? 0);
    if (isWritten) this.#characters += characters;
    if (!isWritten && event.type === 'delta') this.#kept.set(index, characters);
    else this.#kept.delete(index);
  }
}

/**
 * A report of which only so much output is charged as the client was handed: what the upstream says of its output beyond that does not count, and what it says of the input does.
 * @param outputCharacters those that were handed over
 */
export function limitToDelivered(report: ReplyReport, outputCharacters: number): ReplyReport {
  const { usageReport } = report;
  if (usageReport === undefined) return { ...report, outputCharacters };
  const usage: { -readonly [Name in keyof Usage]: Usage[Name] } = { ...usageReport.usage };
  for (const meter of tokensOfSide.output) delete usage[meter];
  return { ...report, outputCharacters, usageReport: { ...usageReport, usage } };
}
