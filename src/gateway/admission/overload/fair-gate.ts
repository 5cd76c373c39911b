/** An admitted call. It has its place until it is released. */
export type Admission = {
  /** Releases its place and the bytes of its body. May be called again. */
  readonly release: () => void;
  /** Sets the received size of the body. False if all bodies together exceed their bound. */
  readonly holdBytes: (bytes: number) => boolean;
  /** Releases only the bytes of the body, once nothing holds them. May be called again. */
  readonly releaseBytes: () => void;
};

/** Undefined if the call is refused. A promise only if it must wait, for a bounded time. */
export type AdmitResult = Admission | undefined | Promise<Admission | undefined>;

export type FairGateOptions = {
  readonly nowMs: () => number;
  /** Requests one call of `expire` after this time. */
  readonly wakeAfter: (ms: number) => void;
  readonly bounds: GateBounds;
};

export type GateBounds = {
  /** Calls that run at a time. */
  readonly calls: number;
  /** Further calls, for tenants below their share. */
  readonly spareCalls: number;
  /** Bytes of bodies at a time. */
  readonly bytes: number;
  /** Waiting calls of tenants at or above their share. */
  readonly waiting: number;
  readonly waitMs: number;
};

/** Waiting calls in total. The search for the next one reads all of them, so this also bounds its time. */
const waitingMax = 256;
/**
 * At this number of entries, tenants without calls are forgotten all at once. Removing each entry with its last call
 * would cost more.
 */
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
 * Lets calls in while there are places. Without places tenants share: the next place goes to the tenant with the fewest
 * running calls, and a tenant below its share may take a spare place. No call enters while a call of a tenant with
 * fewer running calls waits.
 */
export class FairGate {
  readonly #options: FairGateOptions;
  #tenants = new Map<string, Tenant>();
  #bounds: GateBounds;
  /** Tenants with a running or waiting call. */
  #activeTenants = 0;
  #inFlight = 0;
  #bytes = 0;
  /** In the order of arrival, which is that of their deadlines. */
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
   * @param hasLeft whether the client disconnected while the call waited: it then takes no place
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

  /** Changes the bounds. Running calls stay, whatever their number. */
  setBounds(bounds: GateBounds): void {
    this.#bounds = bounds;
    this.#fill();
  }

  /** Refuses the calls that have waited long enough, and requests another call for the others. */
  expire(): void {
    const waitedSinceMs = this.#options.nowMs() - this.#bounds.waitMs;
    for (let oldest = this.#waiters[0]; oldest !== undefined && oldest.sinceMs <= waitedSinceMs; oldest = this.#waiters[0]) {
      this.#takeOut(oldest);
      this.#refuse(oldest);
    }
    this.#wakeForOldest();
  }

  /** Counts since the start, and present values. */
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

  /** For an admission whose body is larger or smaller than declared. */
  changeBytes(change: number): void {
    this.#bytes += change;
    if (change < 0 && this.#waiters.length > 0) this.#fill();
  }

  #tenantOf(id: string): Tenant {
    const existing = this.#tenants.get(id);
    if (existing !== undefined) return existing;
    const tenant = new Tenant();
    if (this.#tenants.size >= tenantsKeptMax + 2 * this.#activeTenants) {
      this.#tenants = new Map([...this.#tenants].filter(([, { inFlight, waiters }]) => inFlight + waiters.length > 0));
    }
    this.#tenants.set(id, tenant);
    return tenant;
  }

  /** Whether this number of calls is below a tenant's equal share. */
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

  /** Makes room if a tenant with more calls than this one has a waiting call: its last one is refused. */
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

  /** Gives places to waiting calls, those of the tenant with the fewest running calls first. */
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

  /**
   * The first call of the tenant with the fewest running calls; of several such tenants, the call that has waited
   * longest.
   */
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

/**
 * `admitted`, `refused` and `delayed` count since the start. A call that waited counts as delayed and also as one of
 * the other two.
 */
export type GateCounts = {
  readonly inFlight: number;
  readonly waiting: number;
  /** Of request bodies. */
  readonly bytes: number;
  /** Tenants with a running or waiting call. */
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
