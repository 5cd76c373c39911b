import { silentLogger } from '../../../platform/log.ts';
import type { Clock } from '../../../platform/clock.ts';
import { createCreditDesk, type RunningCreditDesk } from '../../credits/create-credit-desk.ts';
import type { LeaseStore } from '../../credits/credit-store.ts';
import { createJournal } from '../../journal/create-journal.ts';
import type { Journal } from '../../journal/journal.ts';
import { encodeRecord, recordTypes } from '../../journal/journal-record.ts';
import { MemoryJournalDisk } from '../../journal/testing/memory-journal-disk.ts';
import { createLostCallSettler } from '../../journal/settle-lost-call.ts';
import type { PriceBook } from '../../rating/rating.ts';
import type { WorldBooks } from './world-books.ts';

/** The fate of calls to the store. `lost`: they take effect and their answers are lost. */
type StoreFault = 'none' | 'down' | 'lost';

/** One incarnation of a process. After its end, with `isOver`, its effects are ignored. */
type Incarnation = { readonly journal: Journal; readonly desk: RunningCreditDesk; isOver: boolean };

const directory = '/journal';
const shipMsMax = 5000;

/**
 * A simulated gateway process: a journal on a disk that outlives it, a shipper and a credit desk over the shared books.
 */
export class SimulatedProcess {
  readonly nodeId: string;
  readonly #books: WorldBooks;
  readonly #clock: Clock;
  #disk = new MemoryJournalDisk();
  #incarnation: Incarnation | undefined;
  fault: StoreFault = 'none';
  incarnations = 0;

  constructor(nodeId: string, books: WorldBooks, clock: Clock) {
    this.nodeId = nodeId;
    this.#books = books;
    this.#clock = clock;
  }

  get journal(): Journal {
    return this.#current().journal;
  }

  get desk(): RunningCreditDesk {
    return this.#current().desk;
  }

  #current(): Incarnation {
    if (this.#incarnation === undefined) throw new Error(`${this.nodeId} does not run`);
    return this.#incarnation;
  }

  /** Starts an incarnation: settles the calls that the last one died in, with these prices. */
  async start(priceBook: PriceBook): Promise<void> {
    this.incarnations += 1;
    const whose = { isOver: false };
    const through = async <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
      if (whose.isOver || this.fault === 'down') throw new Error('the store is down');
      const result = await work();
      if (this.fault === 'lost') throw new Error('the answer was lost');
      return result;
    };
    const { journal } = await createJournal({
      directory,
      disk: this.#disk,
      clock: this.#clock,
      logger: silentLogger,
      settleLost: createLostCallSettler({ priceBook }),
      store: { appendEncoded: (entries) => through(() => this.#books.append(entries, this.nodeId)) },
      segmentBytesMax: 16 * 1024,
    });
    const { credits } = this.#books;
    const store: LeaseStore = {
      openCreditNode: (incarnation) => through(() => credits.openCreditNode(incarnation)),
      releaseCreditNode: (incarnation) => through(() => credits.releaseCreditNode(incarnation)),
      changeLeases: (incarnation, requests) => through(() => credits.changeLeases(incarnation, requests)),
      readCreditSignals: (incarnation) => through(() => credits.readCreditSignals(incarnation)),
    };
    const node = { nodeId: this.nodeId, sessionId: `${this.nodeId}.${this.incarnations}` };
    const ship = (): Promise<void> => drain(journal);
    const desk = createCreditDesk({ store, node, clock: this.#clock, logger: silentLogger, ship });
    this.#incarnation = Object.assign(whose, { journal, desk });
    void desk.tick();
  }

  /**
   * Kills the process at once; its disk keeps the bytes that the operating system had. With `tears`, the write in
   * progress leaves the beginning of a record. A power loss keeps synced bytes, and any subset of the others.
   */
  kill(kind: 'kill' | 'power-loss', tears: boolean, random: () => number): void {
    const incarnation = this.#current();
    incarnation.isOver = true;
    this.#incarnation = undefined;
    this.#disk = kind === 'kill' ? this.#disk.afterCrash('kill') : this.#disk.afterPowerLoss(random);
    // The dead process continues on a disk that nobody reads, and without a store; closing it stops its timers.
    void incarnation.journal.close();
    if (tears && kind === 'kill') this.#tear();
  }

  #tear(): void {
    const record = Buffer.alloc(256);
    const length = encodeRecord(record, 0, recordTypes.open, '{"callId":"torn"}');
    const last = [...this.#disk.files.keys()].toSorted().at(-1);
    const file = last === undefined ? undefined : this.#disk.files.get(last);
    if (file === undefined) return;
    file.bytes = Buffer.concat([file.bytes, record.subarray(0, length - 3)]);
    file.syncedBytes = file.bytes.length;
  }
}

async function drain(journal: Journal): Promise<void> {
  const stopping = new AbortController();
  const timer = setTimeout(() => stopping.abort(new Error('shipping took too long')), shipMsMax);
  try {
    await journal.drain(stopping.signal);
  } finally {
    clearTimeout(timer);
  }
}
