/** A call that was let in. It takes its place until it is released. */
export type Admission = {
  /** Gives back what the call took: its place, and its body's bytes. Harmless when repeated. */
  readonly release: () => void;
  /** So much of the body is there now. False when that is more than all calls together may hold. */
  readonly holdBytes: (bytes: number) => boolean;
  /** Gives back the body's bytes alone, once nothing holds them. Harmless when repeated. */
  readonly releaseBytes: () => void;
};

/** Undefined when the call is refused; a promise only when it has to wait, which it does for a bounded time. */
export type AdmitResult = Admission | undefined | Promise<Admission | undefined>;

export type FairGateOptions = {
  readonly nowMs: () => number;
  /** Asks for `expire` to be called after this time, once. */
  readonly wakeAfter: (ms: number) => void;
  readonly bounds: GateBounds;
};

export type GateBounds = {
  /** Calls under way at a time. */
  readonly calls: number;
  /** Further calls, for tenants that have less than their share. */
  readonly spareCalls: number;
  /** Bytes of bodies at a time. */
  readonly bytes: number;
  /** Calls of tenants that have their share which may wait. */
  readonly waiting: number;
  readonly waitMs: number;
};

/** Calls that may wait in all. Looking for the next one reads them all, so it is also what a turn costs at most. */
const waitingMax = 256;
/** Tenants without a call are forgotten when there are so many entries, all at once: entries that come and go with each call would cost more. */
const tenantsKeptMax = 1000;

class Tenant {
  inFlight = 0;
  readonly waiters: Waiter[] = [];
}

type Waiter = {
  readonly tenant: Tenant;
  readonly bytes: number;
  readonly sinceMs: number;
  readonly hasLeft: () => boolean;
  readonly answer: (admission: Admission | undefined) => void;
};

class Place implements Admission {
  readonly #gate: FairGate;
  readonly #tenant: Tenant;
  #bytes: number;
  #isFree = false;

  constructor(gate: FairGate, tenant: Tenant, bytes: number) {
    this.#gate = gate;
    this.#tenant = tenant;
    this.#bytes = bytes;
  }

  holdBytes(bytes: number): boolean {
    if (!this.#isFree) this.#setBytes(bytes);
    return this.#gate.hasRoom;
  }

  releaseBytes(): void {
    this.#setBytes(0);
  }

  release(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#gate.leave(this.#tenant, bytes);
  }

  #setBytes(bytes: number): void {
    const change = bytes - this.#bytes;
    this.#bytes = bytes;
    if (change !== 0) this.#gate.changeBytes(change);
  }
}

/**
 * Lets calls in while there are places for them. When there are none, tenants share: the next place goes to the tenant with the fewest calls under way, and
 * one that has less than its share may take one of the spare places. Nobody enters while a call of a tenant with fewer calls under way waits.
 */
export class FairGate {
  readonly #options: FairGateOptions;
  #tenants = new Map<string, Tenant>();
  #bounds: GateBounds;
  /** Tenants with a call under way or waiting. */
  #activeTenants = 0;
  #inFlight = 0;
  #bytes = 0;
  /** In the order of their coming, which is that of their deadlines. */
  readonly #waiters: Waiter[] = [];
  #admitted = 0;
  #refused = 0;
  #delayed = 0;

  constructor(options: FairGateOptions) {
    this.#options = options;
    this.#bounds = options.bounds;
  }

  /**
   * @param bytes size of the call's body
   * @param hasLeft whether the client went away while the call waited: it then takes no place
   */
  admit(tenantId: string, bytes: number, hasLeft: () => boolean): AdmitResult {
    const tenant = this.#tenantOf(tenantId);
    if (this.#waiters.length === 0 && this.#mayEnter(tenant, bytes)) return this.#enter(tenant, bytes);
    return this.#wait(tenant, bytes, hasLeft);
  }

  /** Whether all bodies together are within their bound. */
  get hasRoom(): boolean {
    return this.#bytes <= this.#bounds.bytes;
  }

  /** Changes what is let in. Calls under way stay, however many they are. */
  setBounds(bounds: GateBounds): void {
    this.#bounds = bounds;
    this.#fill();
  }

  /** Refuses the calls that have waited long enough, and asks to be called again for the others. */
  expire(): void {
    const waitedSinceMs = this.#options.nowMs() - this.#bounds.waitMs;
    for (let oldest = this.#waiters[0]; oldest !== undefined && oldest.sinceMs <= waitedSinceMs; oldest = this.#waiters[0]) {
      this.#takeOut(oldest);
      this.#refuse(oldest);
    }
    this.#wakeForOldest();
  }

  /** Counts since the start, and what is there now. */
  counts(): GateCounts {
    return {
      inFlight: this.#inFlight,
      waiting: this.#waiters.length,
      bytes: this.#bytes,
      tenants: this.#activeTenants,
      admitted: this.#admitted,
      refused: this.#refused,
      delayed: this.#delayed,
    };
  }

  /** For an admission that ends. */
  leave(tenant: Tenant, bytes: number): void {
    this.#inFlight -= 1;
    tenant.inFlight -= 1;
    this.#bytes -= bytes;
    this.#forgetIfIdle(tenant);
    if (this.#waiters.length > 0) this.#fill();
  }

  /** For an admission whose body is larger or smaller than was said. */
  changeBytes(change: number): void {
    this.#bytes += change;
    if (change < 0 && this.#waiters.length > 0) this.#fill();
  }

  #tenantOf(id: string): Tenant {
    const known = this.#tenants.get(id);
    if (known !== undefined) return known;
    const tenant = new Tenant();
    if (this.#tenants.size >= tenantsKeptMax + 2 * this.#activeTenants) {
      this.#tenants = new Map([...this.#tenants].filter(([, { inFlight, waiters }]) => inFlight + waiters.length > 0));
    }
    this.#tenants.set(id, tenant);
    return tenant;
  }

  /** Whether so many calls of a tenant are fewer than would be its own if all that want some had as many. */
  #isBelowShare(tenant: Tenant, calls: number): boolean {
    const tenants = this.#activeTenants + (isIdle(tenant) ? 1 : 0);
    return calls * tenants < this.#bounds.calls;
  }

  #mayEnter(tenant: Tenant, bytes: number): boolean {
    const { calls, spareCalls, bytes: bytesMax } = this.#bounds;
    if (this.#bytes > 0 && this.#bytes + bytes > bytesMax) return false;
    if (this.#inFlight < calls) return true;
    return this.#inFlight < calls + spareCalls && this.#isBelowShare(tenant, tenant.inFlight);
  }

  #enter(tenant: Tenant, bytes: number): Admission {
    if (isIdle(tenant)) this.#activeTenants += 1;
    tenant.inFlight += 1;
    this.#inFlight += 1;
    this.#bytes += bytes;
    this.#admitted += 1;
    return new Place(this, tenant, bytes);
  }

  #wait(tenant: Tenant, bytes: number, hasLeft: () => boolean): AdmitResult {
    if (!this.#hasRoomToWait(tenant)) {
      this.#refused += 1;
      return undefined;
    }
    this.#delayed += 1;
    if (isIdle(tenant)) this.#activeTenants += 1;
    const { promise, resolve } = Promise.withResolvers<Admission | undefined>();
    const waiter: Waiter = { tenant, bytes, sinceMs: this.#options.nowMs(), hasLeft, answer: resolve };
    tenant.waiters.push(waiter);
    this.#waiters.push(waiter);
    if (this.#waiters.length === 1) this.#wakeForOldest();
    // Others may wait for more bytes than this one needs.
    this.#fill();
    return promise;
  }

  /** Makes room where a tenant with more calls than this one has a call that waits: its last one is refused. */
  #hasRoomToWait(tenant: Tenant): boolean {
    const max = this.#isBelowShare(tenant, loadOf(tenant)) ? waitingMax : Math.min(this.#bounds.waiting, waitingMax);
    if (this.#waiters.length < max) return true;
    let heaviest = tenant;
    for (const waiter of this.#waiters) if (loadOf(waiter.tenant) > loadOf(heaviest)) heaviest = waiter.tenant;
    const last = heaviest.waiters.at(-1);
    if (loadOf(heaviest) <= loadOf(tenant) + 1 || last === undefined) return false;
    this.#takeOut(last);
    this.#refuse(last);
    return true;
  }

  /** Gives places to those that wait, to the tenant with the fewest calls under way first. */
  #fill(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { tenant, bytes } = next;
      if (next.hasLeft()) {
        this.#takeOut(next);
        this.#refuse(next);
        continue;
      }
      if (!this.#mayEnter(tenant, bytes)) return;
      this.#takeOut(next);
      const admission = this.#enter(tenant, bytes);
      next.answer(admission);
    }
  }

  /** The first call of the tenant that has the fewest; of several such tenants, of the one that has waited longest. */
  #next(): Waiter | undefined {
    let next: Waiter | undefined;
    for (const waiter of this.#waiters) if (next === undefined || waiter.tenant.inFlight < next.tenant.inFlight) next = waiter;
    return next;
  }

  #takeOut(waiter: Waiter): void {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    const ofTenant = waiter.tenant.waiters;
    ofTenant.splice(ofTenant.indexOf(waiter), 1);
    this.#forgetIfIdle(waiter.tenant);
  }

  #refuse(waiter: Waiter): void {
    this.#refused += 1;
    waiter.answer(undefined);
  }

  #forgetIfIdle(tenant: Tenant): void {
    if (isIdle(tenant)) this.#activeTenants -= 1;
  }

  #wakeForOldest(): void {
    const [oldest] = this.#waiters;
    if (oldest !== undefined) this.#options.wakeAfter(Math.max(0, oldest.sinceMs + this.#bounds.waitMs - this.#options.nowMs()));
  }
}

/** `admitted`, `refused` and `delayed` count since the start; a call that waited is delayed and also one of the other two. */
export type GateCounts = {
  readonly inFlight: number;
  readonly waiting: number;
  /** Of request bodies. */
  readonly bytes: number;
  /** That have a call under way or waiting. */
  readonly tenants: number;
  readonly admitted: number;
  readonly refused: number;
  readonly delayed: number;
};

function isIdle({ inFlight, waiters }: Tenant): boolean {
  return inFlight === 0 && waiters.length === 0;
}

function loadOf({ inFlight, waiters }: Tenant): number {
  return inFlight + waiters.length;
}
