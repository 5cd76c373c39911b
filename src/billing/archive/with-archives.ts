import { timeOfId } from '../../platform/ids.ts';
import type { CallFactsStore } from '../calls/call-facts-store.ts';
import type { CallEntry } from '../ledger/call-entry.ts';
import { decodeEntry } from '../ledger/entry-json.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { rowIdsOf } from '../ledger/row-ids.ts';
import type { PricedRow, PricedRowStore } from '../staging/priced-row.ts';
import type { ArchiveReader } from './archive-format.ts';
import type { ArchivedRow, ArchiveFiles, ArchiveStore, CallArchive } from './call-archive.ts';
import { openArchive } from './open-archive.ts';

/** What reads rows of calls by id or by time. */
export type ArchivedReads = Pick<LedgerStore, 'findEntry' | 'listCallRows' | 'listEntriesBetween'> &
  Pick<CallFactsStore, 'listCallTransactions'>;

/** An id may be made a little later than its call was accepted. */
const dayMs = 86_400_000;

type Page = Parameters<LedgerStore['listEntriesBetween']>[0];
type Known = {
  readonly archive: CallArchive;
  reader: Promise<ArchiveReader> | undefined;
  group: { readonly index: number; readonly rows: readonly ArchivedRow[] } | undefined;
};

/**
 * The reads of a store that also find rows in archives. The store is read first; files are opened only for rows that
 * are not there and for spans that begin before the newest archive ends.
 * @param files the files; undefined if the configuration names none, which is an error only if a row is in one
 */
export function withArchives(store: ArchivedReads & ArchiveStore, files: () => Promise<ArchiveFiles>, signal: AbortSignal): ArchivedReads {
  const library = new Library(store, files, signal);
  const rowsOf = async (rowIds: readonly string[]): Promise<readonly ArchivedRow[]> => {
    const places = await store.listArchivedPlaces(rowIds);
    return places.length === 0 ? [] : await library.find(places);
  };
  const mayBeArchived = async (callId: string): Promise<boolean> => {
    const untilMs = await store.archivedUntilMs();
    return untilMs > 0 && (timeOfId(callId) ?? 0) < untilMs + dayMs;
  };
  return {
    findEntry: async (callId) => {
      const found = await store.findEntry(callId);
      if (found !== undefined || !(await mayBeArchived(callId))) return found;
      const [row] = await rowsOf([callId]);
      return row === undefined ? undefined : entryOf(row);
    },
    listCallRows: async (callId) => {
      const rows = await store.listCallRows(callId);
      if (!(await mayBeArchived(callId))) return rows;
      const archived = (await rowsOf(rowIdsOf(callId))).map(entryOf);
      const all = new Map([...archived, ...rows].map((row) => [row.callId, row]));
      return rowIdsOf(callId).flatMap((id) => all.get(id) ?? []);
    },
    listCallTransactions: async (rowIds) => {
      const found = await store.listCallTransactions(rowIds);
      if (rowIds[0] === undefined || !(await mayBeArchived(rowIds[0]))) return found;
      const ids = new Set((await rowsOf(rowIds)).flatMap(({ transactionId }) => transactionId ?? []));
      for (const { transactionId } of found) ids.delete(transactionId);
      return [...found, ...(ids.size === 0 ? [] : await store.findTransactions([...ids]))];
    },
    listEntriesBetween: (page) => mergePage({ store, library, list: store.listEntriesBetween, read: entryOf }, page),
  };
}

/** The same for rows that are priced again. */
export function withArchivedPrices(
  store: PricedRowStore & ArchiveStore,
  files: () => Promise<ArchiveFiles>,
  signal: AbortSignal,
): PricedRowStore {
  const library = new Library(store, files, signal);
  return { listPricedRows: (page) => mergePage({ store, library, list: store.listPricedRows, read: pricedRowOf }, page) };
}

type Merging<Row> = {
  readonly store: Pick<ArchiveStore, 'archivedUntilMs'>;
  readonly library: Library;
  readonly list: (page: Page) => Promise<readonly Row[]>;
  readonly read: (row: ArchivedRow) => Row;
};

/** A page of rows of the store and of archives. */
async function mergePage<Row extends Timed>({ store, library, list, read }: Merging<Row>, page: Page): Promise<readonly Row[]> {
  if ((await store.archivedUntilMs()) <= (page.after?.acceptedAtMs ?? page.startMs)) return await list(page);
  // Archives first: a row that is dropped in between is in both, and never in none.
  const archived = (await library.page(page)).map(read);
  const all = new Map([...archived, ...(await list(page))].map((row) => [row.callId, row]));
  return [...all.values()].toSorted(byTime).slice(0, page.limit);
}

const entryOf = (row: ArchivedRow): CallEntry => decodeEntry(JSON.parse(row.entry));

const pricedRowOf = ({ callId, acceptedAtMs, amountNanoUsd, entry }: ArchivedRow): PricedRow => ({
  callId,
  acceptedAtMs,
  amountNanoUsd,
  kind: undefined,
  readEntry: () => decodeEntry(JSON.parse(entry)),
});

type Timed = Pick<CallEntry, 'acceptedAtMs' | 'callId'>;
function byTime(one: Timed, other: Timed): number {
  if (one.acceptedAtMs !== other.acceptedAtMs) return one.acceptedAtMs - other.acceptedAtMs;
  return one.callId < other.callId ? -1 : Number(one.callId > other.callId);
}

/** The archives of a store. Files never change, so their directories and the last group of rows are kept. */
class Library {
  readonly #store: ArchiveStore;
  readonly #files: () => Promise<ArchiveFiles>;
  readonly #signal: AbortSignal;
  readonly #known = new Map<string, Known>();

  constructor(store: ArchiveStore, files: () => Promise<ArchiveFiles>, signal: AbortSignal) {
    this.#store = store;
    this.#files = files;
    this.#signal = signal;
  }

  /** The rows at some places. */
  async find(places: readonly { readonly callId: string; readonly atMs: number }[]): Promise<readonly ArchivedRow[]> {
    const rows: ArchivedRow[] = [];
    for (const known of await this.#list()) {
      const inside = places.filter(({ atMs }) => atMs >= known.archive.fromMs && atMs < known.archive.untilMs);
      if (inside.length === 0) continue;
      const times = inside.map(({ atMs }) => atMs);
      const span = { fromMs: Math.min(...times), toMs: Math.max(...times) };
      const ids = inside.map(({ callId }) => callId);
      rows.push(...(await (await this.#open(known)).find(ids, span)));
    }
    return rows;
  }

  /** The first rows of a page, from each archive as many as the page may have. */
  async page({ startMs, endMs, after, limit }: Page): Promise<readonly ArchivedRow[]> {
    const fromMs = Math.max(startMs, after?.acceptedAtMs ?? startMs);
    const rows: ArchivedRow[] = [];
    for (const known of await this.#list()) {
      if (known.archive.untilMs <= fromMs || known.archive.fromMs >= endMs) continue;
      const reader = await this.#open(known);
      let taken = 0;
      for (let index = reader.groupsBefore(fromMs); taken < limit; index += 1) {
        const group = await this.#group(known, reader, index);
        if (group === undefined) break;
        const inside = group.filter(
          (row) => row.acceptedAtMs >= startMs && row.acceptedAtMs < endMs && (after === undefined || byTime(row, after) > 0),
        );
        rows.push(...inside.slice(0, limit));
        taken += inside.length;
        if ((group.at(-1)?.acceptedAtMs ?? endMs) >= endMs) break;
      }
    }
    return rows;
  }

  async #list(): Promise<readonly Known[]> {
    return (await this.#store.listArchives()).map((archive) => {
      const known = this.#known.get(archive.id);
      if (known?.archive.sha256 === archive.sha256) return known;
      const added: Known = { archive, reader: undefined, group: undefined };
      this.#known.set(archive.id, added);
      return added;
    });
  }

  async #open(known: Known): Promise<ArchiveReader> {
    known.reader ??= this.#files().then((files) => openArchive(files, known.archive, this.#signal));
    try {
      return await known.reader;
    } catch (error) {
      known.reader = undefined;
      throw error;
    }
  }

  async #group(known: Known, reader: ArchiveReader, index: number): Promise<readonly ArchivedRow[] | undefined> {
    if (known.group?.index === index) return known.group.rows;
    const rows = await reader.group(index);
    // One group at a time is in memory.
    for (const other of this.#known.values()) other.group = undefined;
    known.group = rows === undefined ? undefined : { index, rows };
    return rows;
  }
}
