import type { Migration } from './migration.ts';

/** Lists of videos and callbacks over all users. */
export const adminLists: Migration = {
  version: 33,
  name: 'admin-lists',
  shared: [
    'create index video_tasks_by_time on video_tasks (created_at_ms, id)',
    'create index callback_deliveries_by_time on callback_deliveries (created_at_ms, id)',
  ],
  sqlite: [],
  postgres: [],
};
