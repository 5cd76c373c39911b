import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { PriceBookStore, PublishedPriceBook, RecordedPrices } from './price-book-store.ts';
import { digestOfBook } from './published-book.ts';

export type PriceBookFollowerOptions = {
  readonly store: Pick<PriceBookStore, 'newestPriceBook' | 'findPriceBook' | 'recordPrices'>;
  /** The book of the last run: used until the store answers. */
  readonly cached: PublishedPriceBook | undefined;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** The pause between two polls. Default 2 s: operators are promised "within a few seconds". */
  readonly pollMs?: number;
  /** How long to wait for an answer of the store. Default 2 s. */
  readonly storeTimeoutMs?: number;
};

/**
 * Polls the price books of the store for one process: it uses newly published books, and records the prices in force.
 * Calls never wait for it; while the store is down nothing changes.
 */
export type PriceBookFollower = {
  /** Polls once, and then repeatedly until `close`. Resolves after the first poll; never rejects. */
  readonly start: () => Promise<void>;
  /** The newest known book; undefined if none is published. */
  readonly newest: () => PublishedPriceBook | undefined;
  /** Records the prices in force; while the store is down, later. */
  readonly record: (prices: Omit<RecordedPrices, 'recordedAtMs'>) => void;
  readonly close: () => void;
};

export function createPriceBookFollower(options: PriceBookFollowerOptions): PriceBookFollower {
  const { store, clock, logger, pollMs = 2000, storeTimeoutMs = 2000 } = options;
  const closing = new AbortController();
  let newest = options.cached;
  const unrecorded = new Map<string, RecordedPrices>();
  let isDown = false;
  let timer: NodeJS.Timeout | undefined;

  const ask = <Answer>(answer: Promise<Answer>): Promise<Answer> => waitFor(answer, storeTimeoutMs, closing.signal);

  async function takeNewest(): Promise<void> {
    const head = await ask(store.newestPriceBook());
    if (head?.number === newest?.number && head?.digest === newest?.digest) return;
    const book = head === undefined ? undefined : await ask(store.findPriceBook(head.number));
    if (book !== undefined && digestOfBook(book.book) !== book.digest) {
      logger.warn({ priceBook: book.number }, 'price book digest mismatch');
      return;
    }
    newest = book;
    logger.info({ priceBook: book?.number, label: book?.label }, 'published price book changed');
  }

  async function recordAll(): Promise<void> {
    for (const prices of unrecorded.values()) {
      await ask(store.recordPrices(prices));
      unrecorded.delete(prices.version);
    }
  }

  /** Logs a failure of the store once, and again only after it has answered in between. */
  async function poll(): Promise<void> {
    try {
      await takeNewest();
      await recordAll();
      isDown = false;
    } catch (error) {
      if (closing.signal.aborted) return;
      if (!isDown) logger.warn({ err: error }, 'reading the published price book failed');
      isDown = true;
    }
  }

  async function repeat(): Promise<void> {
    await poll();
    if (closing.signal.aborted) return;
    // Polling must not keep the process alive.
    timer = setTimeout(() => void repeat(), pollMs).unref();
  }

  return {
    start: repeat,
    newest: () => newest,
    record: (prices) => {
      unrecorded.set(prices.version, { ...prices, recordedAtMs: clock.nowMs() });
    },
    close: () => {
      closing.abort();
      clearTimeout(timer);
    },
  };
}
