import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { createJournal } from '../../src/billing/journal/create-journal.ts';
import type { Journal } from '../../src/billing/journal/journal.ts';
import { recordTypes, scanSegment } from '../../src/billing/journal/journal-record.ts';
import { MemoryJournalDisk } from '../../src/billing/journal/testing/memory-journal-disk.ts';
import { createLostCallSettler } from '../../src/billing/journal/settle-lost-call.ts';
import type { CallEntry, CallOpening } from '../../src/billing/ledger/call-entry.ts';
import { loadShippedPriceBook } from '../../src/billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../src/billing/rating/price-book.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { silentLogger } from '../../src/platform/log.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createRandom } from '../books/load.ts';
import { readLedger } from '../support/read-ledger.ts';
import { secondPriceOf } from '../support/second-calculator.ts';

export type PowerLossFigures = {
  readonly losses: number;
  readonly calls: number;
  readonly rows: number;
  /** Calls of the last sync interval that left no trace. Some of them must be lost, or the model proves nothing. */
  readonly vanished: number;
  /** Calls that the next start settled. */
  readonly settled: number;
  /** Deleted files that reappeared. */
  readonly returned: number;
  readonly problems: readonly string[];
};

const directory = '/journal';
const priceBook = createPriceBook({ book: loadShippedPriceBook() });
const settleLost = createLostCallSettler({ priceBook });
const outputTokens = 200;
const charactersPerToken = 4;

/** The durable part of a call: its beginning, or its end. */
type Certain = 'open' | 'done';

/** A gateway's journal over a real database, on a disk that loses its power repeatedly. */
class LosingWorld {
  readonly #store: Store;
  readonly #random: () => number;
  #disk = new MemoryJournalDisk();
  readonly certain = new Map<string, Certain>();
  readonly begun = new Map<string, CallEntry>();
  /** The events of each call that this run of the journal received. */
  readonly #told = new Map<string, Certain>();
  settled = 0;
  returned = 0;

  constructor(store: Store, random: () => number) {
    this.#store = store;
    this.#random = random;
  }

  /** Starts with the remaining files, makes some calls, and loses the power at a random moment. */
  async liveAndLose(): Promise<void> {
    const life = { isOver: false };
    const journal = await this.#start(life);
    this.#told.clear();
    const calls = 1 + Math.floor(this.#random() * 30);
    for (let call = 0; call < calls; call += 1) {
      this.#call(journal);
      const chance = this.#random();
      if (chance < 0.3) await delay(Math.floor(this.#random() * 4));
      else if (chance < 0.6) await Promise.resolve();
    }
    if (this.#random() < 0.3) await journal.drain(AbortSignal.timeout(10_000));
    life.isOver = true;
    if (this.#random() < 0.2) await this.#closeFirst(journal);
    this.#noteCertain();
    const names = new Set(this.#disk.list(directory));
    this.#disk = this.#disk.afterPowerLoss(this.#random);
    this.returned += this.#disk.list(directory).filter((name) => !names.has(name)).length;
    // Writes of the dead process go to a disk that is never read; closing it stops its timers.
    await journal.close();
  }

  /** The last start, without failures. */
  async comeToRest(): Promise<void> {
    const journal = await this.#start({ isOver: false });
    await journal.drain(AbortSignal.timeout(60_000));
    await journal.close();
  }

  /** A journal that was closed in order guarantees every event that it received. */
  async #closeFirst(journal: Journal): Promise<void> {
    await journal.close();
    for (const [callId, reached] of this.#told) this.certain.set(callId, reached);
  }

  async #start(life: { readonly isOver: boolean }): Promise<Journal> {
    const appendEncoded = (entries: readonly Uint8Array[]): Promise<number> =>
      life.isOver ? Promise.reject(new Error('the power is gone')) : this.#store.appendEncoded(entries);
    const { journal, recovered } = await createJournal({
      directory,
      disk: this.#disk,
      clock: systemClock,
      logger: silentLogger,
      settleLost,
      store: { appendEncoded },
      segmentBytesMax: 4096,
      syncIntervalMs: 1,
      shipIntervalMs: 2,
    });
    this.settled += recovered.lostAnswered + recovered.lostUnanswered + recovered.lostFailed;
    return journal;
  }

  /** A call proceeds to a random stage. */
  #call(journal: Journal): void {
    const entry = makeEntry(this.begun.size + 1);
    const { callId } = entry;
    this.begun.set(callId, entry);
    journal.open(openingOf(entry));
    this.#told.set(callId, 'open');
    const reached = this.#random();
    if (reached < 0.1) return;
    journal.head(callId, { status: 200 });
    if (reached < 0.5) journal.progress(callId, { outputCharacters: Math.floor(this.#random() * outputTokens) * charactersPerToken });
    if (reached <= 0.3) return;
    journal.done(entry);
    this.#told.set(callId, 'done');
  }

  /** The durable data, which no power loss can remove. */
  #noteCertain(): void {
    for (const { path, bytes } of this.#disk.lasting()) {
      if (!path.includes('segment-')) continue;
      for (const { type, value } of scanSegment(bytes).records) {
        const { callId, end } = value as Pick<CallEntry, 'callId' | 'end'>;
        // A start also records the end of calls that it settles as lost.
        if (type === recordTypes.done && end === 'finished') this.certain.set(callId, 'done');
        else if (type !== recordTypes.head && type !== recordTypes.progress && !this.certain.has(callId)) this.certain.set(callId, 'open');
      }
    }
  }
}

function openingOf({
  end: _end,
  usage: _usage,
  estimated: _estimated,
  durationMs: _ms,
  charge: _charge,
  upstreamStatus: _status,
  ...opening
}: CallEntry): CallOpening {
  return opening;
}

function makeEntry(number: number): CallEntry {
  const opening = {
    callId: `req_${String(number).padStart(26, '0')}`,
    acceptedAtMs: Date.UTC(2026, 10, 20),
    userName: 'alice',
    keyId: 'key_1',
    keyName: 'ci',
    dialect: 'openai-chat',
    requestedModel: 'gpt-4.1',
    upstream: 'openai',
    vendor: 'openai',
    upstreamModel: 'gpt-4.1',
    stream: true,
    inputCharacters: 400,
    priceVersion: priceBook.version,
  };
  const usage = { inputTokens: 100 + (number % 7), outputTokens };
  const charge = priceBook.rate({ ...opening, usage });
  return { ...opening, end: 'finished', upstreamStatus: 200, usage, estimated: false, durationMs: 1, charge };
}

/** Problems of the row of a call, or of a missing row. */
function judge(
  entry: CallEntry,
  certain: Certain | undefined,
  row: CallEntry | undefined,
  shipped: CallEntry | undefined,
): readonly string[] {
  const { callId, charge } = entry;
  if (row === undefined) return certain === undefined ? [] : [`call ${callId}: no row, although its ${certain} had been synced`];
  const problems: string[] = [];
  const amount = row.charge.amountNanoUsd;
  if (secondPriceOf(row, row.usage) !== amount)
    problems.push(`call ${callId}: the row has ${amount}, a second calculator has another amount`);
  if (row.end === 'finished' ? amount !== charge.amountNanoUsd : amount > charge.amountNanoUsd)
    problems.push(`call ${callId}: charged ${amount} as ${row.end}, the whole call is ${charge.amountNanoUsd}`);
  if (certain === 'done' && row.end !== 'finished') problems.push(`call ${callId}: booked as ${row.end}, although its end had been synced`);
  if (shipped !== undefined && (shipped.end !== row.end || shipped.charge.amountNanoUsd !== amount))
    problems.push(`call ${callId}: its row was ${shipped.end} and is ${row.end}`);
  return problems;
}

/**
 * Cuts a journal's power repeatedly, at random moments: writes after the last sync vanish in any subset, torn at any
 * byte, and so do new, removed and renamed files. The database keeps its committed data, because it syncs each
 * transaction. In the end every call whose beginning was synced has exactly one row, every call whose end was synced
 * has the correct row, and no existing row has changed.
 */
export async function auditPowerLosses({ losses, seed }: { readonly losses: number; readonly seed: number }): Promise<PowerLossFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-power-loss-'));
  const store = await openSqliteStore({ path: join(folder, 'weir.sqlite') });
  try {
    const world = new LosingWorld(store, createRandom(seed));
    const shipped = new Map<string, CallEntry>();
    for (let loss = 0; loss < losses; loss += 1) {
      await world.liveAndLose();
      if (loss % 20 === 0) for (const row of await readLedger(store).all()) if (!shipped.has(row.callId)) shipped.set(row.callId, row);
    }
    await world.comeToRest();
    const all = await readLedger(store).all();
    const rows = new Map(all.map((row) => [row.callId, row]));
    const problems = [...world.begun].flatMap(([callId, entry]) =>
      judge(entry, world.certain.get(callId), rows.get(callId), shipped.get(callId)),
    );
    if (rows.size < all.length) problems.push(`${all.length - rows.size} rows exist twice`);
    for (const callId of rows.keys()) if (!world.begun.has(callId)) problems.push(`row ${callId}: of no call`);
    const { settled, returned } = world;
    return { losses, calls: world.begun.size, rows: all.length, vanished: world.begun.size - rows.size, settled, returned, problems };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
