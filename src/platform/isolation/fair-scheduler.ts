export type FairSchedulerLimits = {
  /** Slots for all tenants together. */
  readonly atOnceMax: number;
  /** Slots that one tenant may use at a time. Less than `atOnceMax` keeps slots free for others. */
  readonly atOncePerTenantMax: number;
  readonly waitingMax: number;
  readonly waitingPerTenantMax: number;
};

type Tenant = { readonly name: string; atOnce: number; readonly waiting: (() => void)[] };

/** Admits a bounded number at a time. Tenants take turns, so that one busy tenant does not delay the others. */
export class FairScheduler {
  readonly #limits: FairSchedulerLimits;
  /** In the order in which they are served. A tenant without requests is removed. */
  readonly #tenants = new Map<string, Tenant>();
  #atOnce = 0;
  #waiting = 0;

  constructor(limits: FairSchedulerLimits) {
    this.#limits = limits;
  }

  get atOnce(): number {
    return this.#atOnce;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves with a function that frees the slot, when the tenant gets one. Undefined if too many wait already. Rejects
   * with the signal's reason.
   */
  async enter(name: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    signal.throwIfAborted();
    const { atOnceMax, atOncePerTenantMax, waitingMax, waitingPerTenantMax } = this.#limits;
    const tenant = this.#tenants.get(name) ?? { name, atOnce: 0, waiting: [] };
    if (this.#atOnce < atOnceMax && tenant.atOnce < atOncePerTenantMax) return this.#take(tenant);
    if (this.#waiting >= waitingMax || tenant.waiting.length >= waitingPerTenantMax) return undefined;
    this.#tenants.set(name, tenant);
    return await this.#wait(tenant, signal);
  }

  #take(tenant: Tenant): () => void {
    this.#atOnce += 1;
    tenant.atOnce += 1;
    this.#moveToEnd(tenant);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      this.#atOnce -= 1;
      tenant.atOnce -= 1;
      this.#moveToEnd(tenant);
      this.#admitNext();
    };
  }

  /** Moves a tenant that was served to the end of the queue. */
  #moveToEnd(tenant: Tenant): void {
    this.#tenants.delete(tenant.name);
    if (tenant.atOnce > 0 || tenant.waiting.length > 0) this.#tenants.set(tenant.name, tenant);
  }

  #admitNext(): void {
    const { atOnceMax, atOncePerTenantMax } = this.#limits;
    if (this.#atOnce >= atOnceMax || this.#waiting === 0) return;
    for (const tenant of this.#tenants.values()) {
      if (tenant.waiting.length === 0 || tenant.atOnce >= atOncePerTenantMax) continue;
      this.#waiting -= 1;
      tenant.waiting.shift()?.();
      return;
    }
  }

  #wait(tenant: Tenant, signal: AbortSignal): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const admit = (): void => resolve(this.#take(tenant));
    const giveUp = (): void => {
      const place = tenant.waiting.indexOf(admit);
      if (place < 0) return;
      tenant.waiting.splice(place, 1);
      this.#waiting -= 1;
      if (tenant.atOnce === 0 && tenant.waiting.length === 0) this.#tenants.delete(tenant.name);
      reject(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    tenant.waiting.push(admit);
    this.#waiting += 1;
    return promise.finally(() => signal.removeEventListener('abort', giveUp));
  }
}
