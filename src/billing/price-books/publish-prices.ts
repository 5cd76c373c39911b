import type { Change } from '../../audit/change-author.ts';
import { dayOf } from '../rating/list-prices.ts';
import type { PriceBookData } from '../rating/price-book-schema.ts';
import { composePriceBook } from './compose-price-book.ts';
import type { PriceBookStore, PriceBookSummary, PublishedPriceBook } from './price-book-store.ts';
import type { LoadedPrices, PriceDesk } from './price-desk.ts';
import { joinLayers, sharedLayers } from './price-layers.ts';
import { createPublishedBook, readPublishedBook } from './published-book.ts';

/** The facts of a publication besides its prices. */
export type PublicationFacts = {
  /** The first day (UTC) of the new prices. */
  readonly from: string;
  /** From that day on, only the new prices apply: neither the shipped book nor earlier publications. */
  readonly whole: boolean;
  readonly note?: string | undefined;
  /** The name of the publisher. */
  readonly actor: string;
  /** The newest book that the publisher has seen, 0 for none; undefined accepts any. */
  readonly expectedNewest?: number | undefined;
};

/**
 * Prices were not published. `past`: the day is over. `meanwhile`: somebody else has published a book since. `role`:
 * the database does not let this program publish.
 */
export class PublicationError extends Error {
  readonly code: 'past' | 'meanwhile' | 'role';
  /** The number of the newest book, for `meanwhile`; 0 if there is none. */
  readonly newest: number;

  constructor(code: PublicationError['code'], message: string, options: { readonly newest?: number; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PublicationError';
    this.code = code;
    this.newest = options.newest ?? 0;
  }
}

type Store = Pick<PriceBookStore, 'newestPriceBook' | 'findPriceBook' | 'insertPriceBook'>;

/** The newest published book of a store. */
export async function findNewestBook(store: Pick<Store, 'newestPriceBook' | 'findPriceBook'>): Promise<PublishedPriceBook | undefined> {
  const head = await store.newestPriceBook();
  return head === undefined ? undefined : await store.findPriceBook(head.number);
}

/**
 * Adds a price book to the store. Every gateway of the database loads it within seconds. It is loaded as a gateway does
 * first, so that a book that gateways would refuse is never published.
 * @returns the published book, and the prices of this configuration with it
 * @throws PublicationError, or PriceBookError with every problem of the resulting book. Nothing is published then.
 */
export async function publishPrices(
  { store, desk }: { readonly store: Store; readonly desk: Pick<PriceDesk, 'load'> },
  file: PriceBookData,
  facts: PublicationFacts,
  change: Change,
): Promise<{ readonly book: PublishedPriceBook; readonly loaded: LoadedPrices }> {
  const today = dayOf(change.atMs);
  if (facts.from < today)
    throw new PublicationError(
      'past',
      `the day ${facts.from} is in the past: calls accepted since then are booked; new prices apply from ${today} at the earliest`,
    );
  const current = await findNewestBook(store);
  const newest = current?.number ?? 0;
  if (facts.expectedNewest !== undefined && facts.expectedNewest !== newest) throw publishedMeanwhile(newest);
  const book = composeNext(current, file, facts, change.atMs);
  const loaded = desk.load(book);
  if (await insert(store, book, change)) return { book, loaded };
  throw publishedMeanwhile(book.number);
}

function publishedMeanwhile(newest: number): PublicationError {
  return new PublicationError('meanwhile', `book ${newest} was published by another operator in the meantime`, { newest });
}

function composeNext(
  current: PublishedPriceBook | undefined,
  file: PriceBookData,
  { from, whole, note, actor }: PublicationFacts,
  publishedAtMs: number,
): PublishedPriceBook {
  const scope: PriceBookSummary['scope'] = whole || current?.scope === 'whole' ? 'whole' : 'override';
  const book = composePriceBook({
    inForce: joinLayers(sharedLayers(current)),
    published: current === undefined ? undefined : readPublishedBook(current),
    file,
    from,
    scope,
    endsOthers: whole,
  });
  const number = (current?.number ?? 0) + 1;
  const about = { number, label: file.version, scope, effectiveFrom: from, publishedAtMs, actor };
  return createPublishedBook(book, note === undefined ? about : { ...about, note });
}

async function insert(store: Store, book: PublishedPriceBook, change: Change): Promise<boolean> {
  try {
    return await store.insertPriceBook(book, change);
  } catch (error) {
    if (!(error instanceof Error && 'kind' in error && error.kind === 'read-only')) throw error;
    throw new PublicationError(
      'role',
      'the role of the configuration may not publish prices (weir database roles creates weir_operator, and --console-publishes lets the console)',
      { cause: error },
    );
  }
}
