import type { AccessLimits } from '../../../accounts/access-limits.ts';
import { applyLease, isStranded, leasedOf, type LeaseRow, unlessEnded } from '../apply-lease.ts';
import { type CreditNode, type LeaseReply, type LeaseRequest, type LeaseStore, isSeenDue, nodeAliveMs } from '../credit-store.ts';
import { accountIdOf, allPotBits, allPots, paidBy, payerOf, type Pot, type PotOwner, spendLimitOf } from '../pots.ts';

/** The part of a ledger row that booking needs. */
export type BookedRow = {
  readonly callId: string;
  readonly userName: string;
  readonly keyId: string;
  readonly teamId?: string | undefined;
  readonly acceptedAtMs: number;
  readonly amountNanoUsd: bigint;
  /** Bits of the pots of its hold; undefined without one. */
  readonly heldPots: number | undefined;
};

type Incarnation = { sessionId: string; seenAtMs: number };
type Lease = { readonly nodeId: string; readonly potId: string; row: LeaseRow; recalled: boolean };

/** The pots whose spend grows by a row: of the balances only that of its payer. */
export function chargedPots(row: BookedRow): readonly Pot[] {
  const payer = accountIdOf(paidBy({ ...row, payer: payerOf(row.heldPots ?? 0) }));
  return allPots(row).filter(({ kind, owner }) => kind === 'spend' || accountIdOf(owner) === payer);
}

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

  /** @param owner `key:<id>`, or the id of the owner's account */
  setLimits(owner: string, limits: AccessLimits | undefined): void {
    this.#limits.set(owner, limits);
    this.#version += 1;
  }

  /** Adds to the balance of a user, or of another owner, or reduces it. */
  pay(to: string | PotOwner, nanoUsd: bigint): void {
    this.#add(ownerOf(to), nanoUsd);
    this.#version += 1;
  }

  balanceOf(of: string | PotOwner): bigint {
    return this.#balances.get(accountIdOf(ownerOf(of))) ?? 0n;
  }

  #add(owner: PotOwner, nanoUsd: bigint): void {
    this.#balances.set(accountIdOf(owner), this.balanceOf(owner) + nanoUsd);
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
      this.#add(paidBy({ ...row, payer: payerOf(row.heldPots ?? 0) }), -row.amountNanoUsd);
      for (const pot of chargedPots(row)) this.#book(pot, row, nodeId);
    }
  }

  #book(pot: Pot, { amountNanoUsd, heldPots = 0 }: BookedRow, nodeId: string | undefined): void {
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
    const limits = this.#limits.get(accountIdOf(pot.owner));
    if (pot.kind === 'balance') return limits?.prepaid === true ? this.balanceOf(pot.owner) : undefined;
    return spendLimitOf(pot, pot.keyId === undefined ? limits : this.#limits.get(`key:${pot.keyId}`));
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

  async changeLeases(node: CreditNode & { readonly nowMs: number }, requests: readonly LeaseRequest[]): Promise<LeaseReply> {
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

function ownerOf(name: string | PotOwner): PotOwner {
  return typeof name === 'string' ? { level: 'user', userName: name } : name;
}

const leaseKey = (nodeId: string, potId: string): string => `${nodeId}\n${potId}`;
