import type { AccessLimits } from '../../../accounts/access-limits.ts';
import { applyLease, isStranded, leasedOf, type LeaseRow, unlessEnded } from '../apply-lease.ts';
import { type CreditNode, type LeaseReply, type LeaseRequest, type LeaseStore, isSeenDue, nodeAliveMs } from '../credit-store.ts';
import { allPotBits, allPots, type Pot, spendLimitOf } from '../pots.ts';

/** The part of a ledger row that booking needs. */
export type BookedRow = {
  readonly callId: string;
  readonly userName: string;
  readonly keyId: string;
  readonly acceptedAtMs: number;
  readonly amountNanoUsd: bigint;
  /** Bits of the pots of its hold; undefined without one. */
  readonly heldPots: number | undefined;
};

type Incarnation = { sessionId: string; seenAtMs: number };
type Lease = { readonly nodeId: string; readonly potId: string; row: LeaseRow; recalled: boolean };

/** An in-memory credit store for tests and models. Like a database, it runs each method atomically. */
export class MemoryCreditStore implements LeaseStore {
  readonly #limits = new Map<string, AccessLimits | undefined>();
  readonly #balances = new Map<string, bigint>();
  /** The booked spend by pot. */
  readonly #spent = new Map<string, bigint>();
  readonly #rows = new Set<string>();
  readonly #incarnations = new Map<string, Incarnation>();
  readonly #leases = new Map<string, Lease>();
  #version = 0;

  /** @param owner `user:<name>` or `key:<id>` */
  setLimits(owner: string, limits: AccessLimits | undefined): void {
    this.#limits.set(owner, limits);
    this.#version += 1;
  }

  /** Adds to a user's balance, or reduces it. */
  pay(userName: string, nanoUsd: bigint): void {
    this.#balances.set(userName, this.balanceOf(userName) + nanoUsd);
    this.#version += 1;
  }

  balanceOf(userName: string): bigint {
    return this.#balances.get(userName) ?? 0n;
  }

  /** The booked spend of a pot. */
  spentOf(potId: string): bigint {
    return this.#spent.get(potId) ?? 0n;
  }

  /** The leases of a pot by all nodes. */
  leasedOf(potId: string): bigint {
    return this.#leasedIf(potId, () => true);
  }

  /** The leases of a node from all pots. */
  leasedBy(nodeId: string): bigint {
    let sum = 0n;
    for (const lease of this.#leases.values()) if (lease.nodeId === nodeId) sum += leasedOf(lease.row);
    return sum;
  }

  isBooked(callId: string): boolean {
    return this.#rows.has(callId);
  }

  /** Books rows that a node ships; rows that are booked already are ignored. */
  append(rows: readonly BookedRow[], nodeId?: string): void {
    for (const row of rows) {
      if (this.#rows.has(row.callId)) continue;
      this.#rows.add(row.callId);
      for (const pot of allPots(row)) this.#book(pot, row, nodeId);
    }
  }

  #book(pot: Pot, { amountNanoUsd, heldPots = 0, userName }: BookedRow, nodeId: string | undefined): void {
    if (pot.kind === 'balance') this.#balances.set(userName, this.balanceOf(userName) - amountNanoUsd);
    this.#spent.set(pot.id, this.spentOf(pot.id) + amountNanoUsd);
    if (nodeId === undefined || (heldPots & allPotBits & pot.bit) === 0) return;
    const lease = this.#leases.get(leaseKey(nodeId, pot.id));
    if (lease !== undefined) this.#keep(nodeId, pot.id, unlessEnded({ ...lease.row, shipped: lease.row.shipped + amountNanoUsd }));
  }

  #keep(nodeId: string, potId: string, row: LeaseRow | undefined): void {
    const key = leaseKey(nodeId, potId);
    if (row === undefined) this.#leases.delete(key);
    else this.#leases.set(key, { nodeId, potId, row, recalled: false });
  }

  #leasedIf(potId: string, counts: (lease: Lease) => boolean): bigint {
    let sum = 0n;
    for (const lease of this.#leases.values()) if (lease.potId === potId && counts(lease)) sum += leasedOf(lease.row);
    return sum;
  }

  #limitOf(pot: Pot): bigint | undefined {
    const userLimits = this.#limits.get(`user:${pot.userName}`);
    if (pot.kind === 'balance') return userLimits?.prepaid === true ? this.balanceOf(pot.userName) : undefined;
    return spendLimitOf(pot, pot.keyId === undefined ? userLimits : this.#limits.get(`key:${pot.keyId}`));
  }

  /** The incarnation of the node, if it is the current one. */
  #incarnationOf({ nodeId, sessionId }: CreditNode): Incarnation | undefined {
    const incarnation = this.#incarnations.get(nodeId);
    return incarnation?.sessionId === sessionId ? incarnation : undefined;
  }

  /** Nodes that were seen recently, including the caller. */
  #countNodes(nodeId: string, nowMs: number): number {
    return 1 + [...this.#incarnations].filter(([other, { seenAtMs }]) => other !== nodeId && seenAtMs > nowMs - nodeAliveMs).length;
  }

  async openCreditNode({ nodeId, sessionId, nowMs }: CreditNode & { readonly nowMs: number }): Promise<void> {
    this.#incarnations.set(nodeId, { sessionId, seenAtMs: nowMs });
  }

  async releaseCreditNode({ nodeId, sessionId }: { readonly nodeId: string; readonly sessionId?: string }): Promise<number> {
    if (sessionId !== undefined && this.#incarnations.get(nodeId)?.sessionId !== sessionId) return 0;
    const own = [...this.#leases].filter(([, lease]) => lease.nodeId === nodeId);
    for (const [key] of own) this.#leases.delete(key);
    if (sessionId === undefined) this.#incarnations.delete(nodeId);
    return own.length;
  }

  async changeLeases(
    node: CreditNode & { readonly nowMs: number; readonly userName: string },
    requests: readonly LeaseRequest[],
  ): Promise<LeaseReply> {
    if (this.#incarnationOf(node) === undefined) return { status: 'fenced' };
    return { status: 'leased', leases: requests.map((request) => this.#change(node, request)) };
  }

  #change({ nodeId, nowMs }: CreditNode & { readonly nowMs: number }, request: LeaseRequest) {
    const { pot } = request;
    const isStrandedNow = ({ nodeId: other, row, recalled }: Lease): boolean =>
      isStranded({ ...row, recalled }, this.#incarnations.get(other), nowMs);
    const potState = {
      limit: this.#limitOf(pot),
      spent: pot.kind === 'balance' ? 0n : this.spentOf(pot.id),
      leasedElsewhere: this.#leasedIf(pot.id, (lease) => lease.nodeId !== nodeId),
      stranded: this.#leasedIf(pot.id, (lease) => lease.nodeId !== nodeId && isStrandedNow(lease)),
      nodes: this.#countNodes(nodeId, nowMs),
    };
    const { row, state, recall } = applyLease(this.#leases.get(leaseKey(nodeId, pot.id))?.row, request, potState);
    this.#keep(nodeId, pot.id, row);
    if (recall) for (const lease of this.#leases.values()) if (lease.potId === pot.id && lease.nodeId !== nodeId) lease.recalled = true;
    return state;
  }

  async readCreditSignals(node: CreditNode & { readonly nowMs: number }): ReturnType<LeaseStore['readCreditSignals']> {
    const incarnation = this.#incarnationOf(node);
    if (incarnation === undefined) return { status: 'fenced' };
    const recalled = [...this.#leases.values()].filter((lease) => lease.nodeId === node.nodeId && lease.recalled);
    const { seenAtMs } = incarnation;
    if (isSeenDue({ seenAtMs, nowMs: node.nowMs, isRecalled: recalled.length > 0 })) incarnation.seenAtMs = node.nowMs;
    return { status: 'current', version: this.#version, recalled: recalled.map(({ potId }) => potId) };
  }
}

const leaseKey = (nodeId: string, potId: string): string => `${nodeId}\n${potId}`;
