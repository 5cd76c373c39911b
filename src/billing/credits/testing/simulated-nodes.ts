import type { AccessLimits } from '../../../accounts/access-limits.ts';
import { silentLogger } from '../../../platform/log.ts';
import { createCreditDesk, type RunningCreditDesk } from '../create-credit-desk.ts';
import type { CreditHold, CreditRefusal, Payer } from '../credit-desk.ts';
import type { LeaseStore } from '../credit-store.ts';
import { type BookedRow, MemoryCreditStore } from './memory-credit-store.ts';
import { everyPot, potsOf } from '../pots.ts';

/** What becomes of the next word to the store: `lost`: it is done, and the answer is not heard; `late`: it is done after others. */
export type StoreFault = 'none' | 'down' | 'lost' | 'late';

/** A call under way in a simulated process. */
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
  life: number;
  readonly journal: BookedRow[];
  fault: StoreFault;
  shipping: boolean;
};

/** Lets everything run that does not wait for time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Several processes over one store of credits, with a clock and faults of the test's making. */
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
    const node: SimulatedNode = { nodeId, desk: undefined as never, life: 0, journal: [], fault: 'none', shipping: true };
    this.nodes.push(node);
    await this.restart(node);
    return node;
  }

  /** Begins the next life of a process. */
  async restart(node: SimulatedNode): Promise<void> {
    node.life += 1;
    node.desk = createCreditDesk({
      store: this.#faulty(node),
      node: { nodeId: node.nodeId, sessionId: `${node.nodeId}.${node.life}` },
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.monotonicMs },
      logger: silentLogger,
      ship: async () => this.ship(node),
    });
    await node.desk.tick();
  }

  /** The process is killed: its calls are lost, and what they are charged, at most what was held, is found in its journal. */
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
      openCreditNode: (life) => through(() => store.openCreditNode(life)),
      releaseCreditNode: (life) => through(() => store.releaseCreditNode(life)),
      changeLeases: (life, requests) => through(() => store.changeLeases(life, requests)),
      readCreditSignals: (life) => through(() => store.readCreditSignals(life)),
    };
  }

  /** What was late arrives. */
  async arrive(): Promise<void> {
    const late = this.#late;
    this.#late = [];
    for (const work of late) await work();
  }

  /** Asks for money for a call. It is under way, or its refusal is noted, once everything has settled. */
  async open(node: SimulatedNode, payer: Payer, nanoUsd: bigint): Promise<void> {
    const acceptedAtMs = this.nowMs;
    const { life } = node;
    const answer = await node.desk.hold(payer, nanoUsd, acceptedAtMs);
    if (answer === undefined || life !== node.life) return;
    if (answer.admitted) this.calls.push({ id: `call-${(this.#ids += 1)}`, node, payer, acceptedAtMs, hold: answer, chargedNanoUsd: 0n });
    else this.refusals.push(answer);
  }

  #journal(call: SimulatedCall, amountNanoUsd: bigint): void {
    const { payer, acceptedAtMs, hold } = call;
    const row = { userName: payer.userName, keyId: payer.id, acceptedAtMs, amountNanoUsd, heldPots: hold.pots };
    call.node.journal.push({ callId: `${call.id}-${(this.#ids += 1)}`, ...row });
  }

  /** A row of the call is journalled. */
  charge(call: SimulatedCall, nanoUsd: bigint): void {
    call.hold.charge(nanoUsd);
    call.chargedNanoUsd += nanoUsd;
    this.#journal(call, nanoUsd);
  }

  end(call: SimulatedCall): void {
    call.hold.end();
    this.calls.splice(this.calls.indexOf(call), 1);
  }

  /** Puts what the journal has into the store. Throws when it cannot. */
  ship(node: SimulatedNode, most = Infinity): void {
    if (node.fault === 'down' || !node.shipping) throw new Error('the store is down');
    const rows = node.journal.slice(0, most);
    this.store.append(rows, node.nodeId);
    // Now and then rows are shipped that were shipped already.
    if (node.fault !== 'lost') node.journal.splice(0, rows.length);
  }

  /** What is spent of a pot and what may still be, whatever happens: booked, journalled and reserved. */
  committed(potId: string): bigint {
    const journalled = new Map(this.nodes.flatMap(({ journal }) => journal.map((row) => [row.callId, row])));
    let sum = this.store.spentOf(potId);
    for (const row of journalled.values())
      if (!this.store.isBooked(row.callId) && everyPot(row).some(({ id }) => id === potId)) sum += row.amountNanoUsd;
    for (const { payer, hold, chargedNanoUsd, acceptedAtMs } of this.calls)
      if (potsOf(payer, acceptedAtMs).some(({ id }) => id === potId)) sum += hold.heldNanoUsd() - chargedNanoUsd;
    return sum;
  }
}

/** A payer with limits, as the key directory has it. */
export function payerOf(userName: string, keyId: string, limits: AccessLimits | undefined, userLimits: AccessLimits | undefined): Payer {
  return { id: keyId, userName, ...(limits === undefined ? {} : { limits }), ...(userLimits === undefined ? {} : { userLimits }) };
}
