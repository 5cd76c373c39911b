import type { Migration } from './migration.ts';

/**
 * Names in `call_facts` and `service_*` are small integers from here: `value` of a `kind` (see
 * billing/calls/call-fact.ts). A key has its id as value, and its user and name as label.
 */
const names = [
  `create table fact_names (
    id bigint not null primary key,
    kind smallint not null,
    value text not null,
    label text not null
  )`,
  'create unique index fact_names_by_value on fact_names (kind, value, label)',
  "create index fact_names_by_label on fact_names (kind, label) where label <> ''",
];

/**
 * One small row for each row of `calls`, which is written after it. Everything in it can be derived again. A row of a
 * call has the sums of its parts in `whole_*`.
 */
const createFacts = (bytes: 'blob' | 'bytea', numberColumn: string, number: string): readonly string[] => [
  `create table call_facts (
    ${numberColumn},
    call_id text not null,
    parent_id text,
    at_ms bigint not null,
    user_ref bigint not null,
    key_ref bigint not null,
    model_ref bigint not null,
    served_ref bigint not null,
    upstream_ref bigint not null,
    upstream_model_ref bigint not null,
    interface_ref bigint not null,
    error_ref bigint not null,
    end_code smallint not null,
    status smallint not null,
    billed smallint not null,
    flags bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    cache_tokens bigint not null,
    cache_creation_tokens bigint not null,
    use_time_ms bigint not null,
    first_byte_ms bigint,
    amount_nano_usd bigint not null,
    whole_kusd bigint not null,
    whole_nano bigint not null,
    whole_prompt bigint not null,
    whole_completion bigint not null,
    whole_end smallint not null
  )`,
  'create unique index call_facts_by_id on call_facts (call_id)',
  'create index call_facts_parts on call_facts (parent_id) where parent_id is not null',
  `create index call_facts_by_time on call_facts (at_ms${number})`,
  `create index call_facts_by_user on call_facts (user_ref, at_ms${number})`,
  `create index call_facts_by_key on call_facts (key_ref, at_ms${number})`,
  `create index call_facts_by_model on call_facts (model_ref, at_ms${number})`,
  `create index call_facts_by_upstream on call_facts (upstream_ref, at_ms${number})`,
  `create index call_facts_unfinished on call_facts (at_ms${number}) where whole_end <> 0`,
  createService('service_minutes', 'minute', bytes),
  createService('service_hours', 'hour', bytes),
  createService('service_days', 'day', bytes),
];

/**
 * Sums of what upstreams served in a unit of time. Money and counts are those of billed rows; `ended` counts all
 * calls, and `attempts` also those before another attempt. Histograms: see billing/calls/duration-histogram.ts.
 */
const createService = (table: string, unit: string, bytes: string): string => `create table ${table} (
    ${unit} bigint not null,
    upstream_ref bigint not null,
    upstream_model_ref bigint not null,
    interface_ref bigint not null,
    end_code smallint not null,
    ended bigint not null,
    attempts bigint not null,
    call_count bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    cache_tokens bigint not null,
    cache_creation_tokens bigint not null,
    use_time_ms bigint not null,
    amount_kusd bigint not null,
    amount_nano bigint not null,
    first_byte ${bytes} not null,
    duration ${bytes} not null,
    primary key (${unit}, upstream_ref, upstream_model_ref, interface_ref, end_code)
  )`;

/**
 * How far the facts are. `next_number`: the number of the next row. `back_number`: rows of `calls` from before this
 * migration up to this number have no facts yet; they get them in steps, the newest first. `day_zone` and `day_from`:
 * service_days has the days of this zone that begin at this minute or later. The ids after `last_name` are free.
 */
const follow = `create table call_follow (
    id smallint not null primary key check (id = 1),
    next_number bigint not null,
    back_number bigint not null,
    last_name bigint not null,
    day_zone text not null,
    day_from bigint not null
  )`;

const noDay = Number.MIN_SAFE_INTEGER;

export const callFacts: Migration = {
  version: 22,
  name: 'call-facts',
  shared: [...names, follow],
  sqlite: [
    ...createFacts('blob', 'number integer primary key', ''),
    // Rows of `calls` are never deleted, and one process writes at a time: their rowids count up in the order of
    // booking.
    `insert into call_follow (id, next_number, back_number, last_name, day_zone, day_from)
      select 1, coalesce(max(rowid), 0) + 1, coalesce(max(rowid), 0), 0, 'UTC', ${noDay} from calls`,
  ],
  postgres: [
    ...createFacts('bytea', 'number bigint not null primary key', ', number'),
    // Commits have no order that a query could follow. So each statement that books calls leaves their ids here. An
    // older program that still runs does so too.
    `create table call_queue (
      number bigint generated always as identity primary key,
      is_old smallint not null default 0,
      call_ids character varying[] not null
    )`,
    `create function queue_calls() returns trigger language plpgsql security definer set search_path from current as $$
      begin
        insert into call_queue (call_ids) select array_agg(call_id) from added having count(*) > 0;
        return null;
      end
    $$`,
    // It locks the table against bookings until the migration ends, so that the next statement sees all others.
    `create trigger calls_queue after insert on calls referencing new table as added for each statement execute function queue_calls()`,
    `insert into call_queue (is_old, call_ids)
      select 1, array_agg(call_id) from (select call_id, row_number() over (order by accepted_at_ms, call_id) / 200 as part from calls) as old
      group by part order by part`,
    `insert into call_follow (id, next_number, back_number, last_name, day_zone, day_from) values (1, 1, 0, 0, 'UTC', ${noDay})`,
  ],
};
