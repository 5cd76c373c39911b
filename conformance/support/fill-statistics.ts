/** Statistics of many records: each group (user, key, model) has calls in each unit of time. */
export type StatisticsShape = {
  readonly users: number;
  readonly keys: number;
  readonly models: number;
  readonly days: number;
  readonly minutes: number;
};

/** The first moment that has calls, in Unix seconds: a midnight of UTC. */
export const filledFromSeconds = Date.UTC(2024, 0, 1) / 1000;

/**
 * Statements that fill the roll-ups of an empty store directly, the same on every engine: usage by days for `days`, and
 * by minutes for `minutes`. The ledger stays empty. An answer has groups times days, or groups times minutes, records.
 */
export function fillStatistics({ users, keys, models, days, minutes }: StatisticsShape): readonly string[] {
  const names = 'user_name, token_name, model_name';
  const sums = 'prompt_tokens, completion_tokens, cache_tokens, cache_creation_tokens, use_time_ms, call_count, amount_nano_usd';
  const longest = Math.max(users, keys, models, days, minutes);
  const fill = (table: string, unit: string, first: number, step: number, count: number): string =>
    `insert into ${table} (${unit}, ${names}, ${sums})
      select ${first} + units.n * ${step}, ${nameOf('user-', 'users.n')}, ${nameOf('key-', 'keys.n')}, ${nameOf('model-2025-', 'models.n')},
        800 + units.n, 200 + models.n, 300, 20, 1500 + units.n, 1 + models.n, 1234567 + units.n
      from fill_numbers as units cross join fill_numbers as users cross join fill_numbers as keys cross join fill_numbers as models
      where units.n < ${count} and users.n < ${users} and keys.n < ${keys} and models.n < ${models} order by 1, 2, 3, 4`;
  return [
    'create table fill_numbers (n bigint not null)',
    `insert into fill_numbers (n) values ${Array.from({ length: longest }, (_, n) => `(${n})`).join(', ')}`,
    fill('usage_days', 'day', filledFromSeconds / 60, 1440, days),
    fill('usage_minutes', 'minute', filledFromSeconds / 60, 1, minutes),
    'drop table fill_numbers',
    'analyze',
  ];
}

/** A name with a four-digit number. */
function nameOf(prefix: string, column: string): string {
  return `'${prefix}' || substr(cast(10000 + ${column} as text), 2)`;
}
