import type { Migration } from './migrations.ts';

export const disconnectPolicy: Migration = { version: 9, name: 'disconnect-policy', shared: [], sqlite: [], postgres: [] };
