import type { Migration } from './migrations.ts';

export const priceBooks: Migration = { version: 12, name: 'price-books', shared: [], sqlite: [], postgres: [] };
