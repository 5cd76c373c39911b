import type { Migration } from './migrations.ts';

const files = [
  // A row without a time of finishing is an upload under way.
  `create table files (
    id text not null primary key,
    user_name text not null,
    filename text not null,
    purpose text not null,
    media_type text not null,
    bytes bigint not null,
    created_at_ms bigint not null,
    expires_at_ms bigint,
    is_finished bigint not null
  )`,
  'create index files_by_user on files (user_name, created_at_ms, id)',
  'create index files_by_expiry on files (expires_at_ms) where expires_at_ms is not null',
  'create index files_under_way on files (created_at_ms) where is_finished = 0',
];

const stores = [
  `create table vector_stores (
    id text not null primary key,
    user_name text not null,
    name text not null,
    metadata text not null,
    created_at_ms bigint not null,
    last_active_at_ms bigint not null,
    expires_after_days bigint
  )`,
  'create index vector_stores_by_user on vector_stores (user_name, created_at_ms, id)',
  `create table file_batches (
    id text not null primary key,
    store_id text not null references vector_stores (id),
    created_at_ms bigint not null,
    is_cancelled bigint not null
  )`,
  'create index file_batches_by_store on file_batches (store_id)',
  `create table store_files (
    store_id text not null references vector_stores (id),
    file_id text not null references files (id),
    batch_id text,
    status text not null,
    error_code text,
    error_message text,
    attributes text not null,
    is_auto bigint not null,
    chunk_tokens bigint not null,
    overlap_tokens bigint not null,
    created_at_ms bigint not null,
    usage_bytes bigint not null,
    lease_owner text,
    lease_until_ms bigint not null,
    attempts bigint not null,
    primary key (store_id, file_id)
  )`,
  'create index store_files_by_file on store_files (file_id)',
  'create index store_files_by_batch on store_files (batch_id) where batch_id is not null',
  "create index store_files_to_index on store_files (created_at_ms) where status = 'in_progress'",
];

/** Files, vector stores and the index of their text. */
export const fileSearch: Migration = {
  version: 6,
  name: 'file-search',
  shared: [...files, ...stores],
  sqlite: [
    `create table file_pieces (
      file_id text not null references files (id),
      piece_index integer not null,
      sealed blob not null,
      primary key (file_id, piece_index)
    )`,
    `create table chunks (
      id integer primary key,
      store_id text not null,
      file_id text not null,
      chunk_index integer not null,
      text text not null,
      vector blob
    )`,
    'create unique index chunks_by_file on chunks (store_id, file_id, chunk_index)',
    // `scope` holds the store as one word, so that a search reads the rows of one store only.
    "create virtual table chunk_terms using fts5 (scope, terms, tokenize = 'porter unicode61 remove_diacritics 2')",
  ],
  postgres: [],
};
