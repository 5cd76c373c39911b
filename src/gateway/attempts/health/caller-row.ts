/** Whom a row of failures concerns: everybody, or the one caller whose calls failed. */
export type Concerned = 'all' | 'caller';

/** How long a row has to be, and how much of it may be of one caller where it concerns everybody. */
export type RowBounds = { readonly length: number; readonly perCallerMost: number };

type CallerFailures = {
  /** Its distinct requests that failed; no more than matter. */
  readonly requests: Set<string>;
  calls: number;
};

/** More callers than any bound needs. */
const callersMax = 16;

/**
 * Failures in a row, by those whose calls they were. What depends on the request counts by distinct callers and distinct requests: whoever sends what an upstream cannot
 * bear, however often, finds it failing for itself and for nobody else. What no request can cause counts for everybody.
 */
export class CallerRow {
  readonly #bounds: RowBounds;
  readonly #callers = new Map<string, CallerFailures>();
  #length = 0;
  #causeless = 0;

  constructor(bounds: RowBounds) {
    this.#bounds = bounds;
  }

  /** Calls that failed. */
  get length(): number {
    return this.#length;
  }

  /** @param request what tells it from others of its caller; undefined where no request can cause the failure */
  add(caller: string, request: string | undefined): void {
    this.#length += 1;
    const failures = this.#failuresOf(caller);
    if (failures !== undefined) failures.calls += 1;
    if (request === undefined) this.#causeless += 1;
    else if (failures !== undefined && failures.requests.size < this.#bounds.length) failures.requests.add(request);
  }

  #failuresOf(caller: string): CallerFailures | undefined {
    const known = this.#callers.get(caller);
    if (known !== undefined || this.#callers.size >= callersMax) return known;
    const failures = { requests: new Set<string>(), calls: 0 };
    this.#callers.set(caller, failures);
    return failures;
  }

  /** Whom the row concerns by now, seen from the caller who came to it last. */
  judge(caller: string): Concerned | undefined {
    const { length, perCallerMost } = this.#bounds;
    let shared = this.#causeless;
    for (const { requests } of this.#callers.values()) shared += Math.min(perCallerMost, requests.size);
    if (shared >= length) return 'all';
    return (this.#callers.get(caller)?.requests.size ?? 0) + this.#causeless >= length ? 'caller' : undefined;
  }

  /** How many calls of a caller failed one after the other, whatever they asked. */
  callsOf(caller: string): number {
    return this.#callers.get(caller)?.calls ?? 0;
  }
}
