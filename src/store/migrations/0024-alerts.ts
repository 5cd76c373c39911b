import type { Migration } from './migration.ts';

/** Alerts and their messages, and what each gateway has observed. */
export const alerts: Migration = {
  version: 24,
  name: 'alerts',
  shared: [
    // One row for each subject and period of a rule. A change increments the version, so that of two gateways that
    // find the same, one writes it.
    `create table alerts (
      rule text not null,
      subject text not null,
      period text not null,
      state text not null,
      version bigint not null,
      episode bigint not null,
      level bigint not null,
      threshold double precision,
      basis text not null,
      severity text not null,
      summary text not null,
      action text not null,
      since_ms bigint not null,
      resolved_at_ms bigint,
      members text not null,
      channels text not null,
      primary key (rule, subject, period)
    )`,
    "create index alerts_open on alerts (since_ms) where state = 'open'",
    'create index alerts_resolved on alerts (resolved_at_ms) where resolved_at_ms is not null',
    `create table alert_node_reports (
      node_id text not null primary key,
      at_ms bigint not null,
      observations text not null
    )`,
    `create table alert_notices (
      id text not null primary key,
      channel text not null,
      event text not null,
      rule text not null,
      subject text not null,
      content text not null,
      created_at_ms bigint not null,
      status text not null,
      attempts bigint not null,
      next_attempt_at_ms bigint not null,
      lease_owner text,
      lease_until_ms bigint not null,
      last_problem text,
      over_at_ms bigint
    )`,
    "create index alert_notices_due on alert_notices (next_attempt_at_ms) where status = 'waiting'",
    'create index alert_notices_by_time on alert_notices (created_at_ms)',
    'create index alert_notices_over on alert_notices (over_at_ms) where over_at_ms is not null',
  ],
  sqlite: [],
  postgres: [],
};
