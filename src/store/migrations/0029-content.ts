import type { Migration } from './migration.ts';

/**
 * What keys and teams let be recorded of their calls, the objects in buckets and folders that have it, and the orders
 * to erase the content of a user. `state` of an object: 0 it is being written, 1 written, 2 erased.
 */
export const content: Migration = {
  version: 29,
  name: 'content',
  shared: [
    'alter table api_keys add column content text',
    'alter table teams add column content text',
    `create table content_objects (
      place text not null,
      name text not null,
      user_id text not null,
      user_name text not null,
      from_ms bigint not null,
      to_ms bigint not null,
      records bigint not null,
      bytes bigint not null,
      noted_at_ms bigint not null,
      state smallint not null,
      primary key (place, name)
    )`,
    'create index content_objects_by_user on content_objects (user_id)',
    'create index content_objects_by_age on content_objects (place, to_ms)',
    'create index content_objects_erased on content_objects (place) where state = 2',
    `create table content_erasures (
      user_id text not null primary key,
      user_name text not null,
      before_ms bigint not null,
      ordered_at_ms bigint not null
    )`,
  ],
  sqlite: [],
  postgres: [],
};
