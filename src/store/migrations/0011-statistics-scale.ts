import type { Migration } from './migrations.ts';

export const statisticsScale: Migration = { version: 11, name: 'statistics-scale', shared: [], sqlite: [], postgres: [] };
