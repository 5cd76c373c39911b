import type { Migration } from './migration.ts';

const sumOfItems = '(select coalesce(sum(length(body)), 0) from conversation_items where conversation_number = conversations.number)';

/** Lists of stored objects over all users, and the bytes of conversations. */
export const storedLists: Migration = {
  version: 35,
  name: 'stored-lists',
  shared: [
    'alter table conversations add column item_bytes bigint not null default 0',
    `update conversations set item_bytes = ${sumOfItems}`,
    'create index responses_by_time on responses (created_at_ms, id)',
    'create index responses_by_user on responses (user_name, created_at_ms, id)',
    'create index responses_by_id on responses (id)',
    'create index conversations_by_time on conversations (created_at_ms, id)',
    'create index conversations_by_user on conversations (user_name, created_at_ms, id)',
    'create index conversations_by_id on conversations (id)',
    'create index files_by_time on files (created_at_ms, id)',
    'create index vector_stores_by_time on vector_stores (created_at_ms, id)',
  ],
  sqlite: [],
  postgres: [],
};
