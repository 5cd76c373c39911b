import type { ArchiveStore } from '../../billing/archive/call-archive.ts';
import type { PriceBookStore } from '../../billing/price-books/price-book-store.ts';
import type { PricedRowStore } from '../../billing/staging/priced-row.ts';
import { createArchiveOperations } from '../operations/archive-operations.ts';
import { createPriceBookOperations } from '../operations/price-book-operations.ts';
import { createPricedRowOperations } from '../operations/priced-row-operations.ts';
import { readDatabaseId } from '../operations/read-database-id.ts';
import { openReading, type ReadDatabase } from './open-reading.ts';

/** What a staging of prices reads. */
export type StagingReader = PricedRowStore &
  ArchiveStore &
  Pick<PriceBookStore, 'findRecordedPrices'> & {
    readonly databaseId: () => Promise<string>;
    /** Rows of a page that cost least: a file blocks the thread while a page is read, and a server answers each. */
    readonly pageRows: number;
    readonly close: () => Promise<void>;
  };

/** Opens a connection of the calling thread. Throws StoreError. */
export function openStagingReader(options: ReadDatabase): StagingReader {
  const { database, close } = openReading(options);
  return {
    ...createArchiveOperations(database),
    ...createPricedRowOperations(database),
    findRecordedPrices: createPriceBookOperations(database).findRecordedPrices,
    databaseId: () => readDatabaseId(database),
    pageRows: 'path' in options ? 100 : 500,
    close,
  };
}
