import type { Migration } from './migration.ts';

/** Empty, and already applied to databases: the planned tables came with version 14. */
export const priceBooks: Migration = { version: 12, name: 'price-books', shared: [], sqlite: [], postgres: [] };
