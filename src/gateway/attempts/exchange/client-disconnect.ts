import type { DisconnectPolicy } from '../../../billing/ledger/call-entry.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import { tokensOfSide } from '../../../inference/meters.ts';
import type { Usage } from '../../../inference/usage.ts';

/** A client's disconnect before the end of its call, as the exchange saw it. */
export type ClientDisconnect = {
  readonly policy: DisconnectPolicy;
  /** Characters of content that the client's connection had received. */
  readonly deliveredCharacters: number;
};

/** The action of an exchange when its client disconnects. */
export type DisconnectRule = {
  readonly policy: DisconnectPolicy;
  /** The slots for replies that are read without a client. Absent if there are none. */
  readonly slots?: DrainSlots | undefined;
  /**
   * Characters of content that the client has received, if the sink does not pass all of it on. Absent: the exchange
   * counts them.
   */
  readonly delivered?: (() => number) | undefined;
};

/** Bounds of replies that are read without a client, in time and number: they hold connections of upstreams. */
const drainMsMax = 30_000;
const drainsMax = 64;

/**
 * The replies that are read to the end after their clients disconnected, because their upstreams bill them in any case.
 */
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
   * Takes a slot.
   * @param end called once when the time is over, or the gateway ends; never after the release
   * @returns the release; undefined if no slot is free
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

  /** At shutdown: these replies are settled with the usage that is known. */
  endAll(): void {
    for (const stop of this.#ends) stop();
  }
}

/** An encoder of events. Its result is empty if it has nothing to write yet. */
type WritesEvents<Written> = { readonly write: (event: InferenceEvent) => Written };

/**
 * Counts the characters of content in the bytes of a client's reply. Content that an encoder holds back, such as
 * arguments that its dialect sends whole, counts when it is written. Content that is never written, such as reasoning
 * that its client does not see, never counts.
 */
export class DeliveredCount {
  #characters = 0;
  /** By block: the characters that are not written yet. */
  readonly #unwritten = new Map<number, number>();

  get characters(): number {
    return this.#characters;
  }

  encode<Written extends { readonly length: number }>(encoder: WritesEvents<Written>, event: InferenceEvent): Written {
    const written = encoder.write(event);
    this.#wrote(event, written.length > 0);
    return written;
  }

  #wrote(event: InferenceEvent, isWritten: boolean): void {
    if (event.type !== 'delta' && event.type !== 'block-ended') return;
    const { index } = event;
    if (isWritten && event.type === 'delta' && this.#unwritten.size === 0) {
      this.#characters += event.text.length;
      return;
    }
    const characters = (event.type === 'delta' ? event.text.length : 0) + (this.#unwritten.get(index) ?? 0);
    if (isWritten) this.#characters += characters;
    if (!isWritten && event.type === 'delta') this.#unwritten.set(index, characters);
    else this.#unwritten.delete(index);
  }
}

/**
 * A report that charges only the output that the client received: the upstream's counts of output are dropped, and
 * those of input stay.
 * @param outputCharacters the characters that the client received
 */
export function limitToDelivered(report: ReplyReport, outputCharacters: number): ReplyReport {
  const { usageReport } = report;
  if (usageReport === undefined) return { ...report, outputCharacters };
  const usage: { -readonly [Name in keyof Usage]: Usage[Name] } = { ...usageReport.usage };
  for (const meter of tokensOfSide.output) delete usage[meter];
  return { ...report, outputCharacters, usageReport: { ...usageReport, usage } };
}
