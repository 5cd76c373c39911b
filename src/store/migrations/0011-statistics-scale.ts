import { createRollUp } from './0001-initial-schema.ts';
import type { Migration } from './migration.ts';

const sums = [
  'prompt_tokens',
  'completion_tokens',
  'cache_tokens',
  'cache_creation_tokens',
  'use_time_ms',
  'call_count',
  'amount_nano_usd',
];

const days = [
  // `day` is the minute since 1970 at which a day begins in the time zone of usage_day_zone.
  createRollUp('usage_days', 'day'),
  'create table usage_day_zone (id smallint not null primary key check (id = 1), time_zone text not null)',
  "insert into usage_day_zone (id, time_zone) values (1, 'UTC')",
  `insert into usage_days (day, user_name, token_name, model_name, ${sums.join(', ')})
    select (hour / 24) * 1440, user_name, token_name, model_name, ${sums.map((column) => `sum(${column})`).join(', ')}
    from usage_hours group by (hour / 24) * 1440, user_name, token_name, model_name`,
];

/** The price books that priced a user's calls on a day, in days of UTC since 1970. */
const priceVersions = `create table usage_price_versions (
    day bigint not null,
    user_name text not null,
    price_version text not null,
    primary key (day, user_name, price_version)
  )`;

const fillPriceVersions = (version: string): string => `insert into usage_price_versions (day, user_name, price_version)
    select distinct accepted_at_ms / 86400000, user_name, ${version} from calls where billed in (1, 2) and ${version} is not null`;

const billingTokens = [
  'alter table billing_tokens add column expires_at_ms bigint',
  'alter table billing_tokens add column previous_hash text',
  'alter table billing_tokens add column previous_until_ms bigint',
  'create index billing_tokens_by_previous_hash on billing_tokens (previous_hash) where previous_hash is not null',
  // A table of its own, so that a program may record uses without the right to change tokens.
  `create table billing_token_uses (
    token_id text not null primary key,
    used_at_ms bigint not null
  )`,
];

export const statisticsScale: Migration = {
  version: 11,
  name: 'statistics-scale',
  shared: [...days, priceVersions, ...billingTokens],
  sqlite: [fillPriceVersions("(entry ->> '$.priceVersion')")],
  postgres: [fillPriceVersions("(entry::json ->> 'priceVersion')")],
};
