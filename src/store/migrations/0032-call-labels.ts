import type { Migration } from './migration.ts';

/**
 * Team and tags of calls. `tags_ref` is the number of the whole set of tags in fact_names, and `fact_tags` has the
 * value of each of its names. 0 stands for none.
 */
export const callLabels: Migration = {
  version: 32,
  name: 'call-labels',
  shared: [
    'alter table call_facts add column team_ref bigint not null default 0',
    'alter table call_facts add column tags_ref bigint not null default 0',
    `create table fact_tags (
      tags_ref bigint not null,
      name_ref bigint not null,
      value_ref bigint not null,
      primary key (tags_ref, name_ref)
    )`,
    'create index fact_tags_by_value on fact_tags (value_ref)',
    'create index fact_tags_by_name on fact_tags (name_ref)',
  ],
  sqlite: [],
  postgres: [],
};
