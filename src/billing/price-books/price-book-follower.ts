import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { PriceBookStore, PublishedPriceBook, RecordedPrices } from './price-book-store.ts';
import { digestOfBook } from './published-book.ts';

export type PriceBookFollowerOptions = {
  readonly store: Pick<PriceBookStore, 'newestPriceBook' | 'findPriceBook' | 'recordPrices'>;
  /** What was in force at the last run: it stands until the store answers. */
  readonly kept: PublishedPriceBook | undefined;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** How long after one look the next begins. Default 2 s: the promise to operators is "within a few seconds". */
  readonly pollMs?: number;
  /** How long one answer of the store is waited for. Default 2 s. */
  readonly storeTimeoutMs?: number;
};

/**
 * Keeps one process in step with the price books of its store: it takes over what is published, and writes down what prices are in force. Calls never wait for it; a store that is away changes
 * nothing.
 */
export type PriceBookFollower = {
  /** Looks once, and from then on again and again until `close`. Resolves after the first look; it never rejects. */
  readonly start: () => Promise<void>;
  /** The newest book that was heard of; undefined where none is published. */
  readonly newest: () => PublishedPriceBook | undefined;
  /** Has prices written down that are in force now; where the store is away, later. */
  readonly record: (prices: Omit<RecordedPrices, 'recordedAtMs'>) => void;
  readonly close: () => void;
};

export function createPriceBookFollower(options: PriceBookFollowerOptions): PriceBookFollower {
  const { store, clock, logger, pollMs = 2000, storeTimeoutMs = 2000 } = options;
  const closing = new AbortController();
  let newest = options.kept;
  const unrecorded = new Map<string, RecordedPrices>();
  let isAway = false;
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

  /** Says once that the store is away, and once more after it was there again. */
  async function look(): Promise<void> {
    try {
      await takeNewest();
      await recordAll();
      isAway = false;
    } catch (error) {
      if (closing.signal.aborted) return;
      if (!isAway) logger.warn({ err: error }, 'reading the published price book failed');
      isAway = true;
    }
  }

  async function repeat(): Promise<void> {
    await look();
    if (closing.signal.aborted) return;
    // Asking for prices is no reason for a process to stay alive.
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
