import type { CallFactsStore, CallFilter, CallSummary, UserScope } from '../../../billing/calls/call-facts-store.ts';

/** The calls of one reading. If more were booked meanwhile, it says so. */
const callsMax = 200;
const workMs = 30;
/** A call that lasted longer is not announced: the list has it at the time when it was accepted. */
const announcedMs = 15 * 60_000;
/** Batches that a slow stream may be behind. */
const batchesMax = 8;
/** A feed that nobody reads ends after this time. */
const staleMs = 10_000;

/** Calls that were booked between two readings, newest first. */
export type NewCalls = { readonly calls: readonly CallSummary[]; readonly hasMore: boolean };
type Batch = NewCalls & { readonly number: number };

/** New calls of one filter, for all streams that want the same: one question at a time, however many they are. */
export class CallFeed {
  /** The number of the last reading. */
  number = 0;
  /** Everything that the last reading found, also calls that were found before. */
  found: readonly CallSummary[] = [];
  readonly #store: Pick<CallFactsStore, 'scanCalls'>;
  readonly #asked: { readonly filter: CallFilter; readonly scope: UserScope };
  readonly #seen = new Set<string>();
  readonly #batches: Batch[] = [];
  /** Of the last batch that is not kept any more. */
  #droppedNumber = 0;
  #reading: Promise<void> | undefined;
  readonly #begunMs = performance.now();
  #readAtMs = -Infinity;

  constructor(store: Pick<CallFactsStore, 'scanCalls'>, asked: { readonly filter: CallFilter; readonly scope: UserScope }) {
    this.#store = store;
    this.#asked = asked;
  }

  get isStale(): boolean {
    return this.#reading === undefined && performance.now() - Math.max(this.#begunMs, this.#readAtMs) > staleMs;
  }

  /** Reads again, unless that was done within the last `freshMs`. */
  async advance(nowMs: number, freshMs: number): Promise<void> {
    if (this.#reading === undefined && performance.now() - this.#readAtMs < freshMs) return;
    this.#reading ??= this.#read(nowMs).finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  /** The calls that readings after this one found first; undefined if there are none. */
  after(number: number): NewCalls | undefined {
    const batches = this.#batches.filter((batch) => batch.number > number);
    const [first] = batches;
    const hasMissed = this.#droppedNumber > number;
    // Streams with the same object have it encoded once.
    if (batches.length < 2 && !hasMissed) return first;
    return { calls: batches.toReversed().flatMap(({ calls }) => calls), hasMore: hasMissed || batches.some(({ hasMore }) => hasMore) };
  }

  async #read(nowMs: number): Promise<void> {
    const { filter, scope } = this.#asked;
    const startMs = Math.max(filter.startMs ?? 0, nowMs - announcedMs);
    const { calls, next } = await this.#store.scanCalls({ filter: { ...filter, startMs }, scope, limit: callsMax, workMs });
    this.#readAtMs = performance.now();
    const fresh = calls.filter(({ callId }) => !this.#seen.has(callId));
    for (const { callId } of fresh) this.#seen.add(callId);
    for (const oldest of this.#seen) {
      if (this.#seen.size <= 10 * callsMax) break;
      this.#seen.delete(oldest);
    }
    this.number += 1;
    this.found = calls;
    // The first reading finds what is there: nothing of it is new to those who begin now.
    if (fresh.length === 0 || this.number === 1) return;
    const batch = { number: this.number, calls: fresh, hasMore: next !== undefined && fresh.length === callsMax };
    this.#batches.push(batch);
    if (this.#batches.length > batchesMax) this.#droppedNumber = this.#batches.shift()?.number ?? 0;
  }
}

const feeds = new WeakMap<object, Map<string, CallFeed>>();

/**
 * The feed of a filter, the same for all who ask for the same.
 * @param question distinguishes the filter and its scope
 */
export function feedOf(
  store: Pick<CallFactsStore, 'scanCalls'>,
  question: string,
  asked: { readonly filter: CallFilter; readonly scope: UserScope },
): CallFeed {
  const known = feeds.getOrInsertComputed(store, () => new Map<string, CallFeed>());
  for (const [other, feed] of known) if (feed.isStale) known.delete(other);
  return known.getOrInsertComputed(question, () => new CallFeed(store, asked));
}
