import { CallerRow, type Concerned, type RowBounds } from './caller-row.ts';
import { Outage, type OutagePacing } from './outage.ts';

/** An outage that a row of failures begins, and whom it concerns: everybody, or those callers whose own calls failed. */
export class BlamedOutage {
  readonly outage: Outage;
  readonly #bounds: RowBounds;
  #row: CallerRow;
  #concerned: 'all' | Set<string> = 'all';

  constructor(pacing: OutagePacing, bounds: RowBounds, options: { readonly relapseMs: number; readonly random: () => number }) {
    this.outage = new Outage(pacing, options.relapseMs, options.random);
    this.#bounds = bounds;
    this.#row = new CallerRow(bounds);
  }

  get row(): CallerRow {
    return this.#row;
  }

  /** Whether it is out for this caller. */
  isOutFor(caller: string): boolean {
    return this.outage.isOut && (this.#concerned === 'all' || this.#concerned.has(caller));
  }

  /** Ends the row. @returns the one that was ended, where there was one */
  breakRow(): CallerRow | undefined {
    if (this.#row.length === 0) return undefined;
    const ended = this.#row;
    this.#row = new CallerRow(this.#bounds);
    return ended;
  }

  /** Goes on with a row that was ended too early. */
  resume(row: CallerRow): void {
    if (row.length > this.#row.length) this.#row = row;
  }

  /** @returns whether an outage began */
  begin(concerned: Concerned, caller: string, nowMs: number, lastNumber: number): boolean {
    const { outage } = this;
    const isNew = !outage.isOut;
    if (isNew) {
      outage.begin(nowMs, lastNumber);
      this.#concerned = new Set();
    }
    if (concerned === 'all') this.#concerned = 'all';
    else if (this.#concerned !== 'all') this.#concerned.add(caller);
    return isNew;
  }

  end(nowMs: number, lastNumber: number): void {
    this.outage.end(nowMs, lastNumber);
    this.breakRow();
  }
}
