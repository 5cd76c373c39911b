import type { AccessLimits } from '../../../accounts/access-limits.ts';
import { silentLogger } from '../../../platform/log.ts';
import { createCreditDesk, type RunningCreditDesk } from '../create-credit-desk.ts';
import type { CreditHold, CreditRefusal, Payer } from '../credit-desk.ts';
import type { LeaseStore } from '../credit-store.ts';
import { type BookedRow, chargedPots, MemoryCreditStore } from './memory-credit-store.ts';
import { potsOf } from '../pots.ts';

/**
 * The fate of the next call to the store: `lost`: it takes effect and its answer is lost; `late`: it takes effect after
 * others.
 */
export type StoreFault = 'none' | 'down' | 'lost' | 'late';

/** A running call in a simulated process. */
export type SimulatedCall = {
  readonly id: string;
  readonly node: SimulatedNode;
  readonly payer: Payer;
  readonly acceptedAtMs: number;
  readonly hold: CreditHold;
  chargedNanoUsd: bigint;
};

/** A simulated process: its desk, and its journal, which outlives it. */
export type SimulatedNode = {
  readonly nodeId: string;
  desk: RunningCreditDesk;
  incarnation: number;
  readonly journal: BookedRow[];
  fault: StoreFault;
  shipping: boolean;
};

/** Runs everything that does not wait for time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Several processes over one credit store, with a clock and faults that the test controls. */
export class SimulatedNodes {
  readonly store = new MemoryCreditStore();
  readonly nodes: SimulatedNode[] = [];
  readonly calls: SimulatedCall[] = [];
  readonly refusals: CreditRefusal[] = [];
  nowMs = Date.UTC(2026, 10, 22, 23, 50);
  monotonicMs = 0;
  #late: (() => unknown)[] = [];
  #ids = 0;

  /** Starts a process. */
  async start(nodeId: string): Promise<SimulatedNode> {
    const node: SimulatedNode = { nodeId, desk: undefined as never, incarnation: 0, journal: [], fault: 'none', shipping: true };
    this.nodes.push(node);
    await this.restart(node);
    return node;
  }

  /** Begins the next incarnation of a process. */
  async restart(node: SimulatedNode): Promise<void> {
    node.incarnation += 1;
    node.desk = createCreditDesk({
      store: this.#faulty(node),
      node: { nodeId: node.nodeId, sessionId: `${node.nodeId}.${node.incarnation}` },
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.monotonicMs },
      logger: silentLogger,
      ship: async () => this.ship(node),
    });
    await node.desk.tick();
  }

  /** Kills the process: its calls are lost, and their charges, at most their holds, are in its journal. */
  crash(node: SimulatedNode, share: bigint): void {
    for (const call of this.calls.filter((each) => each.node === node)) {
      const left = call.hold.heldNanoUsd() - call.chargedNanoUsd;
      this.#journal(call, (left * share) / 100n);
      this.calls.splice(this.calls.indexOf(call), 1);
    }
  }

  #faulty(node: SimulatedNode): LeaseStore {
    const through = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      const { fault } = node;
      if (fault === 'down') throw new Error('the store is down');
      if (fault === 'late') {
        this.#late.push(work);
        throw new Error('the store is slow');
      }
      const result = await work();
      if (fault === 'lost') throw new Error('the answer was lost');
      return result;
    };
    const { store } = this;
    return {
      openCreditNode: (incarnation) => through(() => store.openCreditNode(incarnation)),
      releaseCreditNode: (incarnation) => through(() => store.releaseCreditNode(incarnation)),
      changeLeases: (incarnation, requests) => through(() => store.changeLeases(incarnation, requests)),
      readCreditSignals: (incarnation) => through(() => store.readCreditSignals(incarnation)),
    };
  }

  /** Delivers late calls to the store. */
  async arrive(): Promise<void> {
    const late = this.#late;
    this.#late = [];
    for (const work of late) await work();
  }

  /** Requests a hold for a call. After everything has settled, the call runs or its refusal is recorded. */
  async open(node: SimulatedNode, payer: Payer, nanoUsd: bigint): Promise<void> {
    const acceptedAtMs = this.nowMs;
    const { incarnation } = node;
    const answer = await node.desk.hold(payer, nanoUsd, acceptedAtMs);
    if (answer === undefined || incarnation !== node.incarnation) return;
    if (answer.admitted) this.calls.push({ id: `call-${(this.#ids += 1)}`, node, payer, acceptedAtMs, hold: answer, chargedNanoUsd: 0n });
    else this.refusals.push(answer);
  }

  #journal(call: SimulatedCall, amountNanoUsd: bigint): void {
    const { payer, acceptedAtMs, hold } = call;
    const row = { userName: payer.userName, keyId: payer.id, teamId: payer.team?.id, acceptedAtMs, amountNanoUsd, heldPots: hold.pots };
    call.node.journal.push({ callId: `${call.id}-${(this.#ids += 1)}`, ...row });
  }

  /** Journals a row of the call. */
  charge(call: SimulatedCall, nanoUsd: bigint): void {
    call.hold.charge(nanoUsd);
    call.chargedNanoUsd += nanoUsd;
    this.#journal(call, nanoUsd);
  }

  end(call: SimulatedCall): void {
    call.hold.end();
    this.calls.splice(this.calls.indexOf(call), 1);
  }

  /** Books the rows of the journal. Throws if it cannot. */
  ship(node: SimulatedNode, most = Infinity): void {
    if (node.fault === 'down' || !node.shipping) throw new Error('the store is down');
    const rows = node.journal.slice(0, most);
    this.store.append(rows, node.nodeId);
    // Sometimes rows are shipped again that were shipped already.
    if (node.fault !== 'lost') node.journal.splice(0, rows.length);
  }

  /** The part of a pot that is spent or may be: booked, journalled and reserved. */
  committed(potId: string): bigint {
    const journalled = new Map(this.nodes.flatMap(({ journal }) => journal.map((row) => [row.callId, row])));
    let sum = this.store.spentOf(potId);
    for (const row of journalled.values())
      if (!this.store.isBooked(row.callId) && chargedPots(row).some(({ id }) => id === potId)) sum += row.amountNanoUsd;
    for (const { payer, hold, chargedNanoUsd, acceptedAtMs } of this.calls)
      if (potsOf(payer, acceptedAtMs).some(({ id }) => id === potId)) sum += hold.heldNanoUsd() - chargedNanoUsd;
    return sum;
  }
}

/** A payer with limits, as in the key directory. */
export function payerOf(userName: string, keyId: string, limits: AccessLimits | undefined, userLimits: AccessLimits | undefined): Payer {
  return { id: keyId, userName, ...(limits === undefined ? {} : { limits }), ...(userLimits === undefined ? {} : { userLimits }) };
}
