import type { Migration } from './migrations.ts';

export const idempotency: Migration = { version: 10, name: 'idempotency', shared: [], sqlite: [], postgres: [] };
