import type { Migration } from './migration.ts';

/** Empty, and applied to databases already: the tables that it was to make came with version 14. */
export const priceBooks: Migration = { version: 12, name: 'price-books', shared: [], sqlite: [], postgres: [] };
