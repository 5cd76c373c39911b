import type { Migration } from './migration.ts';

const tasks = [
  // `phase` is a rank (0 submitting, 1 queued, 2 in_progress, 3 storing, 4 completed, 5 failed), so that statements can
  // ensure that it only grows: a task below 4 is open. `facts` are the values that never change and are never searched
  // for, as JSON.
  `create table video_tasks (
    id text not null primary key,
    user_name text not null,
    key_id text not null,
    facts text not null,
    phase smallint not null check (phase between 0 and 5),
    progress smallint not null check (progress between 0 and 100),
    created_at_ms bigint not null,
    ended_at_ms bigint,
    upstream_task_id text,
    held_nano_usd bigint not null,
    charged_nano_usd bigint,
    error text,
    result text,
    media_key text,
    media_type text,
    media_bytes bigint,
    media_sha256 text,
    duration_ms double precision,
    expires_at_ms bigint,
    next_poll_at_ms bigint not null,
    last_poll_at_ms bigint,
    poll_failures bigint not null,
    missing_since_ms bigint,
    alert_since_ms bigint,
    alert_reason text,
    lease_owner text,
    lease_until_ms bigint not null
  )`,
  'create index video_tasks_by_user on video_tasks (user_name, created_at_ms, id)',
  'create index video_tasks_due on video_tasks (next_poll_at_ms, id) where phase < 4',
  'create index video_tasks_held on video_tasks (user_name, phase, held_nano_usd) where phase < 4',
  'create index video_tasks_by_expiry on video_tasks (expires_at_ms) where media_key is not null',
  'create index video_tasks_by_end on video_tasks (ended_at_ms) where phase >= 4 and media_key is null',
  'create index video_tasks_by_media on video_tasks (media_key) where media_key is not null',
  'create index video_tasks_media_bytes on video_tasks (user_name, key_id, media_bytes) where media_bytes is not null',
  `create table video_idempotency (
    key_id text not null,
    idempotency_key text not null,
    body_hash text not null,
    until_ms bigint not null,
    task_id text not null references video_tasks (id),
    primary key (key_id, idempotency_key)
  )`,
  'create index video_idempotency_by_task on video_idempotency (task_id)',
  'create index video_idempotency_by_end on video_idempotency (until_ms)',
];

/** A table of its own: a request may contain images, and every poll rewrites the row of its task. */
const createRequests = (bytes: string): string => `create table video_requests (
    task_id text not null primary key references video_tasks (id),
    sealed ${bytes} not null
  )`;

const createCallbacks = (bytes: string): readonly string[] => [
  // `over_at_ms`: the time since which nothing remains to be done. A lease without an owner ended at 0.
  `create table callback_deliveries (
    id text not null primary key,
    user_name text not null,
    subject text not null,
    event_type text not null,
    sealed_url ${bytes} not null,
    payload text not null,
    created_at_ms bigint not null,
    status text not null,
    attempts bigint not null,
    next_attempt_at_ms bigint not null,
    last_status bigint,
    last_problem text,
    delivered_at_ms bigint,
    over_at_ms bigint,
    lease_owner text,
    lease_until_ms bigint not null
  )`,
  "create index callback_deliveries_due on callback_deliveries (next_attempt_at_ms, id) where status = 'waiting'",
  'create index callback_deliveries_by_user on callback_deliveries (user_name, created_at_ms, id)',
  'create index callback_deliveries_by_subject on callback_deliveries (user_name, subject, created_at_ms, id)',
  'create index callback_deliveries_over on callback_deliveries (over_at_ms) where over_at_ms is not null',
  `create table callback_secrets (
    user_name text not null primary key,
    current_sealed ${bytes} not null,
    previous_sealed ${bytes},
    previous_until_ms bigint
  )`,
];

/** One row: the id that separates this database's files in an object store from those of others. */
const createIdentity = (id: string): readonly string[] => [
  'create table database_identity (id text not null)',
  `insert into database_identity (id) values (${id})`,
];

/** Video tasks, their idempotency keys, and callbacks. */
export const videoTasks: Migration = {
  version: 7,
  name: 'video-tasks',
  shared: tasks,
  sqlite: [createRequests('blob'), ...createCallbacks('blob'), ...createIdentity('lower(hex(randomblob(8)))')],
  postgres: [
    createRequests('bytea'),
    ...createCallbacks('bytea'),
    ...createIdentity("substr(replace(cast(gen_random_uuid() as text), '-', ''), 17)"),
  ],
};
