import type { Migration } from './migration.ts';

/**
 * The spend of teams and the organization, and the payments from their balances. `group_spend` has sums by account and
 * period. A usage transaction has the team of its calls, and the account that pays if it is not that of the user. A
 * video task has both too, because it is booked when it ends.
 */
export const groupCredits: Migration = {
  version: 27,
  name: 'group-credits',
  shared: [
    `create table group_spend (
      account_id text not null,
      period text not null,
      spent_kusd bigint not null,
      spent_nano bigint not null,
      primary key (account_id, period)
    )`,
    // Verification adds up what all keys have spent.
    "create index spend_periods_total on spend_periods (user_name, key_id) where period = 'total'",
    'alter table ledger_transactions add column team_id text',
    'alter table ledger_transactions add column account_id text',
    'create index ledger_transactions_by_team on ledger_transactions (team_id, day) where team_id is not null',
    'create index ledger_transactions_by_account on ledger_transactions (account_id, posted_at_ms, transaction_id) where account_id is not null',
    'alter table video_tasks add column team_id text',
    'alter table video_tasks add column payer text',
    'create index video_tasks_held_by_team on video_tasks (team_id) where team_id is not null and phase < 4',
    // The organization has spent what its users have spent.
    `insert into group_spend (account_id, period, spent_kusd, spent_nano)
      select 'organization:1', period, kusd + nano / 1000000000000, nano % 1000000000000 from (
        select period, cast(sum(spent_kusd) as bigint) as kusd, cast(sum(spent_nano) as bigint) as nano from spend_periods group by period
      ) as sums`,
  ],
  sqlite: [],
  postgres: [],
};
