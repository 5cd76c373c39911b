import assert from 'node:assert/strict';
import { mock } from 'node:test';

import type { AccessLimits } from '../../../accounts/access-limits.ts';
import type { Clock } from '../../../platform/clock.ts';
import { seededRandom } from '../../../platform/seeded-random.ts';
import type { CreditHold, CreditRefusal, Payer } from '../../credits/credit-desk.ts';
import type { CallEntry, CallOpening } from '../../ledger/call-entry.ts';
import { parsePriceBook } from '../../rating/parse-price-book.ts';
import { createPriceBook } from '../../rating/price-book.ts';
import { plainEntry } from '../../rating/testing/price-book-kit.ts';
import type { PriceBook } from '../../rating/rating.ts';
import { SimulatedProcess } from './simulated-process.ts';
import type { WorldBooks } from './world-books.ts';
import type { PeerProcess } from './peer-process.ts';

/** Prices in nano-USD of a token in the books below, which the auditor computes with. */
type TokenPrices = { readonly input: bigint; readonly output: bigint };

type PinnedPrices = TokenPrices & { readonly book: PriceBook };

/** The bounds of a call's row at the end, in nano-USD, and whether a power loss may have lost it. */
export type ExpectedRow = { readonly least: bigint; readonly most: bigint; readonly mayBeMissing: boolean };

type SimulatedCall = {
  readonly opening: CallOpening;
  readonly process: SimulatedProcess;
  readonly hold: CreditHold | undefined;
  readonly prices: PinnedPrices;
  readonly inputTokens: number;
  readonly outputTokensMax: number;
  attempt: number;
  /** The round of its status line. */
  answeredIn?: number;
  outputTokens: number;
  /** The tokens that the journal has of it. */
  journalledTokens?: number;
  /** Its end was passed to the journal and may not be written. */
  endsWith?: bigint;
};

const outputTokensMax = 200;
const peerTurnMs = 2000;
const peerTurnsMax = 10_000;
/** Four letters count as a token if nothing else is known. */
const charactersPerToken = 4;

function pricesOf(version: string, input: number, output: number): PinnedPrices {
  const entry = plainEntry({ tiers: [{ inputAbove: 0, prices: { input: String(input), output: String(output) } }] });
  const book = createPriceBook({ book: parsePriceBook({ version, currency: 'USD', entries: [entry] }) });
  return { book, input: BigInt(input * 1000), output: BigInt(output * 1000) };
}

/**
 * The price lists before and after the price change of each world. The prices fall, so that a hold by the old list
 * covers a settlement by the new one.
 */
const before = pricesOf('before', 2, 10);
const after = pricesOf('after', 1, 6);

/** The payers: prepaid, limited by key, limited by user, and unlimited. */
export const userLimits: Readonly<Record<string, AccessLimits>> = {
  ann: { prepaid: true },
  bea: {},
  cid: { spendPerMonth: '16', spendTotal: '18' },
  dan: {},
  eve: {},
};
export const keyLimits: Readonly<Record<string, AccessLimits>> = {
  'ann-1': {},
  'ann-2': { spendPerDay: '4' },
  'bea-1': { spendPerDay: '3' },
  'bea-2': { spendPerDay: '5', spendTotal: '8' },
  'cid-1': {},
  'cid-2': { spendTotal: '9' },
  'dan-1': {},
  'dan-2': {},
  'eve-1': { spendPerMonth: '900' },
  'eve-2': { spendPerDay: '300' },
};
const keyIds = Object.keys(keyLimits);

/** The name of a key's owner. */
export const ownerOf = (keyId: string): string => keyId.slice(0, 3);

/** Runs everything that does not wait for time. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Three processes, their calls and their faults, all from one seed. Time is the mocked time of the test runner. */
export class SimulatedWorld {
  readonly processes: readonly SimulatedProcess[];
  readonly expected = new Map<string, ExpectedRow>();
  readonly counts = { calls: 0, refused: 0, kills: 0, powerLosses: 0, lost: 0, outages: 0, jumps: 0 };
  paidNanoUsd = 0n;
  /** Shortly before the end of an hour: some calls that are accepted in it are booked in the next. */
  nowMs = Date.UTC(2026, 10, 20, 9, 59, 50);
  #monotonicMs = 0;
  readonly clock: Clock = { nowMs: () => this.nowMs, monotonicMs: () => this.#monotonicMs };
  readonly #random: () => number;
  readonly #payers: readonly Payer[];
  readonly #live: SimulatedCall[] = [];
  /** Calls with a record that the disk may not have synced. */
  #unsynced = new Set<string>();
  #prices = before;
  #round = 0;

  readonly #books: WorldBooks;
  #peer: PeerProcess | undefined;

  constructor(seed: number, books: WorldBooks) {
    this.#books = books;
    this.#random = seededRandom(seed);
    const { clock } = this;
    this.processes = ['a', 'b', 'c'].map((nodeId) => new SimulatedProcess(nodeId, books, clock));
    this.#payers = keyIds.map((id) => {
      const userName = ownerOf(id);
      return { id, userName, limits: keyLimits[id] ?? {}, userLimits: userLimits[userName] ?? {} };
    });
  }

  /** Runs until this number of calls was made, and then until everything has ended. */
  async live(calls: number, peer?: PeerProcess): Promise<void> {
    this.#peer = peer;
    await this.#books.open(this.#payers);
    await this.#pay();
    for (const process of this.processes) await this.#start(process);
    await this.#pass(500);
    while (this.counts.calls < calls) {
      if (this.counts.calls > calls / 2) this.#prices = after;
      await this.#liveOneRound();
    }
    await this.#comeToRest();
  }

  async #start(process: SimulatedProcess): Promise<void> {
    await process.start(this.#prices.book);
    this.#peer?.begin(process);
  }

  async #liveOneRound(): Promise<void> {
    this.#round += 1;
    if (this.#peer !== undefined && this.#random() < 0.3) this.#peer.act(this.#pick(this.processes), this.#pick(this.#payers));
    const actions = 1 + this.#nat(80);
    const mishapAt = this.#random() < 0.05 ? this.#nat(actions) : -1;
    for (let action = 0; action < actions; action += 1) {
      if (action === mishapAt) await this.#meet();
      if (this.#live.length < 20 || (this.#live.length < 150 && this.#random() < 0.5)) this.#call();
      else this.#advance(this.#nat(this.#live.length));
    }
    await this.#pass(5 + this.#nat(120));
  }

  #nat(below: number): number {
    return Math.floor(this.#random() * below);
  }

  #pick<Item>(items: readonly Item[]): Item {
    const found = items[this.#nat(items.length)];
    if (found === undefined) throw new Error('nothing to pick from');
    return found;
  }

  /** Advances the time of all processes, and runs everything that is due. */
  async #pass(ms: number): Promise<void> {
    this.#monotonicMs += ms;
    this.nowMs += ms;
    // Records that were staged in this turn are written first, so that the sync that is due includes them.
    await settle();
    mock.timers.tick(ms);
    for (const { desk } of this.processes) void desk.tick();
    await settle();
    this.#unsynced = new Set();
  }

  async #pay(): Promise<void> {
    this.paidNanoUsd += 1_500_000_000n;
    await this.#books.pay('ann', 1_500_000_000n);
  }

  async #meet(): Promise<void> {
    const process = this.#pick(this.processes);
    const kind = this.#random();
    if (kind < 0.3) {
      process.fault = this.#pick(['none', 'none', 'none', 'down', 'lost'] as const);
      if (process.fault !== 'none') this.counts.outages += 1;
    } else if (kind < 0.7) await this.#kill(process, 'kill');
    else if (kind < 0.75) await this.#kill(process, 'power-loss');
    else if (kind < 0.9) await this.#pay();
    else {
      // An hour in either direction, and sometimes the next morning.
      this.nowMs += kind < 0.97 ? (this.#random() - 0.5) * 7_200_000 : 36_000_000;
      this.nowMs = Math.round(this.nowMs);
      this.counts.jumps += 1;
    }
  }

  #call(): void {
    const process = this.#pick(this.processes);
    // Payers that are nearly out of money are chosen less often: a refusal settles nothing.
    const payer = this.#pick(this.#random() < 0.75 ? this.#payers.slice(-4) : this.#payers);
    const inputTokens = 1 + this.#nat(300);
    const prices = this.#prices;
    const priced = { vendor: 'acme', upstreamModel: 'm-1', requestedModel: 'm-1', acceptedAtMs: this.nowMs };
    const most = { inputTokens, outputTokens: outputTokensMax };
    const maximumNanoUsd = prices.book.most({ ...priced, most });
    const begin = (hold: CreditHold | undefined): void => {
      const opening: CallOpening = {
        ...priced,
        callId: `c${(this.counts.calls += 1)}`,
        userName: payer.userName,
        keyId: payer.id,
        keyName: payer.id,
        dialect: 'openai',
        upstream: 'acme',
        stream: true,
        inputCharacters: inputTokens * charactersPerToken,
        priceVersion: prices.book.version,
        ...(hold === undefined ? {} : { heldNanoUsd: String(hold.heldNanoUsd()), heldPots: hold.pots }),
      };
      this.#live.push({ opening, process, hold, prices, inputTokens, outputTokensMax, attempt: 1, outputTokens: 0 });
      this.#unsynced.add(opening.callId);
      process.journal.open(opening);
      // Most replies arrive in one piece.
      if (this.#random() < 0.6) this.#reply(this.#live.length - 1);
    };
    const { incarnations } = process;
    const settleAnswer = (answer: CreditHold | CreditRefusal | undefined): void => {
      if (answer?.admitted === false) this.counts.refused += 1;
      else if (incarnations === process.incarnations) begin(answer);
    };
    const answer = process.desk.hold(payer, maximumNanoUsd, this.nowMs);
    if (answer instanceof Promise) void answer.then(settleAnswer);
    else settleAnswer(answer);
  }

  /** A whole reply arrives, and the call ends with it. */
  #reply(at: number): void {
    const call = this.#live[at];
    if (call === undefined) return;
    call.answeredIn = this.#round;
    call.outputTokens = this.#nat(call.outputTokensMax);
    call.process.journal.head(call.opening.callId, { status: 200 });
    this.#end(at, 'finished');
  }

  /** Advances a call: it is answered or retried, emits, or ends. */
  #advance(at: number): void {
    const call = this.#live[at];
    if (call === undefined || call.endsWith !== undefined) return;
    const { opening, process } = call;
    const { callId } = opening;
    const chance = this.#random();
    this.#unsynced.add(callId);
    if (call.answeredIn === undefined) {
      if (chance < 0.05) return this.#end(at, 'failed');
      if (chance < 0.1 && call.attempt < 3) return this.#retry(call);
      call.answeredIn = this.#round;
      process.journal.head(callId, { status: 200 });
      return;
    }
    call.outputTokens = Math.min(call.outputTokensMax, call.outputTokens + this.#nat(60));
    if (chance < 0.3) {
      call.journalledTokens = call.outputTokens;
      const usage = { inputTokens: call.inputTokens, outputTokens: call.outputTokens };
      return process.journal.progress(callId, { usage, outputCharacters: call.outputTokens });
    }
    if (chance > 0.4) this.#end(at, chance > 0.95 ? 'client-left' : 'finished');
  }

  #retry(call: SimulatedCall): void {
    call.attempt += 1;
    const failed = { upstream: 'acme', credential: 'one', upstreamModel: 'm-1', errorCode: 'upstream_unreachable', durationMs: 1 };
    call.process.journal.open({ ...call.opening, failedAttempts: Array.from({ length: call.attempt - 1 }, () => failed) });
  }

  #end(at: number, end: 'finished' | 'client-left' | 'failed'): void {
    const call = this.#live[at];
    if (call === undefined) return;
    const { opening, process, hold, prices } = call;
    const usage = end === 'failed' ? {} : { inputTokens: call.inputTokens, outputTokens: call.outputTokens };
    const charge = end === 'failed' ? { amountNanoUsd: 0n, lines: [] } : prices.book.rate({ ...opening, usage });
    const entry: CallEntry = {
      ...opening,
      end,
      upstreamStatus: end === 'failed' ? 500 : 200,
      usage,
      estimated: false,
      durationMs: 5,
      charge,
    };
    const exact = end === 'failed' ? 0n : costOf(call, prices, call.outputTokens);
    hold?.charge(charge.amountNanoUsd);
    hold?.end();
    const { incarnations } = process;
    const isKnown = (): void => {
      // Messages of a process that has died are ignored.
      if (incarnations !== process.incarnations) return;
      call.endsWith = exact;
      this.expected.set(opening.callId, { least: exact, most: exact, mayBeMissing: false });
      const found = this.#live.indexOf(call);
      if (found >= 0) this.#live[found] = this.#live.at(-1) ?? call;
      if (found >= 0) this.#live.pop();
    };
    call.endsWith = exact;
    if (this.#random() < 0.3) return process.journal.done(entry, isKnown);
    process.journal.done(entry);
    isKnown();
  }

  async #kill(process: SimulatedProcess, kind: 'kill' | 'power-loss'): Promise<void> {
    this.counts[kind === 'kill' ? 'kills' : 'powerLosses'] += 1;
    for (const call of this.#live.filter((each) => each.process === process)) {
      this.expected.set(call.opening.callId, this.#boundsOf(call, kind));
      this.counts.lost += 1;
    }
    if (kind === 'power-loss')
      for (const callId of this.#unsynced) {
        const row = this.expected.get(callId);
        if (row !== undefined) this.expected.set(callId, { least: 0n, most: row.most, mayBeMissing: true });
      }
    const others = this.#live.filter((each) => each.process !== process);
    this.#live.splice(0, this.#live.length, ...others);
    this.#peer?.die(process);
    process.kill(kind, this.#random() < 0.5, this.#random);
    await this.#start(process);
  }

  /**
   * At most the emitted tokens, and at least those in the journal, by the cheaper of the lists that it may be settled
   * with.
   */
  #boundsOf(call: SimulatedCall, kind: 'kill' | 'power-loss'): ExpectedRow {
    const mayBeMissing = kind === 'power-loss' && this.#unsynced.has(call.opening.callId);
    if (call.answeredIn === undefined) return { least: 0n, most: 0n, mayBeMissing };
    const most = costOf(call, call.prices, call.outputTokens);
    // A status line of this very moment may not be written yet.
    const isCertain = call.answeredIn < this.#round || call.journalledTokens !== undefined;
    const least = mayBeMissing || !isCertain ? 0n : costOf(call, this.#prices, call.journalledTokens ?? 0);
    return { least, most, mayBeMissing };
  }

  async #comeToRest(): Promise<void> {
    for (const process of this.processes) process.fault = 'none';
    await this.#endCalls(60);
    // Before idle leases are released.
    await this.#compareLeases();
    await this.#endCalls(140);
    // Work of the peer may take hours, and clocks were set back.
    for (let turn = 0; this.#peer?.isOver() === false && turn < peerTurnsMax; turn += 1) await this.#pass(peerTurnMs);
    for (const { desk } of this.processes) {
      void desk.close();
      await this.#pass(1000);
    }
  }

  async #endCalls(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) {
      this.#round += 1;
      for (let at = this.#live.length - 1; at >= 0; at -= 1) this.#advance(at);
      await this.#pass(300);
    }
  }

  /**
   * M6: the amount that a process may spend equals its lease in the books, when nothing is running. It may be less, but
   * never more, if the store did not confirm a record.
   */
  async #compareLeases(): Promise<void> {
    for (const { nodeId, desk } of this.processes) {
      const leased = await this.#books.leasedBy(nodeId);
      const { free } = desk.figures();
      const doubtful = this.#peer?.doubtful(nodeId) ?? 0n;
      if (doubtful === 0n) assert.equal(free, leased, `what ${nodeId} may spend`);
      else assert.ok(free <= leased && free >= leased - doubtful, `what ${nodeId} may spend: ${free} of ${leased}, ${doubtful} in doubt`);
    }
  }

  get callsUnderWay(): number {
    return this.#live.length;
  }

  async close(): Promise<void> {
    for (const { journal } of this.processes) void journal.close();
    await settle();
  }
}

function costOf({ inputTokens }: SimulatedCall, prices: TokenPrices, outputTokens: number): bigint {
  return BigInt(inputTokens) * prices.input + BigInt(outputTokens) * prices.output;
}
