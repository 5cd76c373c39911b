import type { Migration } from './migrations.ts';

export const credits: Migration = { version: 8, name: 'credits', shared: [], sqlite: [], postgres: [] };
