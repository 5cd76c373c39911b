import type { Migration } from './migration.ts';

/**
 * Teams of users, and the one organization of a database, each with limits as JSON and their expiry. A deleted team
 * keeps its row, because booked calls refer to its id. Its name can be used again.
 */
export const teams: Migration = {
  version: 23,
  name: 'teams',
  shared: [
    `create table teams (
      id text not null primary key,
      name text not null,
      created_at_ms bigint not null,
      deleted_at_ms bigint,
      limits text,
      expires_at_ms bigint
    )`,
    'create unique index teams_living_name on teams (name) where deleted_at_ms is null',
    'create table organization (id smallint not null primary key, limits text, expires_at_ms bigint)',
    'insert into organization (id, limits) values (1, null)',
    'alter table users add column team_id text references teams (id)',
    'create index users_by_team on users (team_id) where team_id is not null',
    // The tags of all calls of a key, as JSON.
    'alter table api_keys add column tags text',
  ],
  sqlite: [],
  postgres: [],
};
