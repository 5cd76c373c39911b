/** The content of the roll-ups of a busy gateway. */
export type RollUpShape = {
  /** Days of UTC since 1970: `[firstDay, firstDay + days)`. */
  readonly firstDay: number;
  readonly days: number;
  readonly users: number;
  readonly keysPerUser: number;
  readonly modelsPerKey: number;
  readonly models: number;
  /** Hours of the day in which each group has calls. */
  readonly activeHours: number;
  readonly calls: number;
  /** The number of the last days that also have minutes. */
  readonly minuteDays: number;
};

/**
 * A hundred million calls of thirteen months: a hundred users with two keys each. Each key calls three of twenty models
 * on every day, in fourteen of its hours.
 */
export const busyYear: RollUpShape = {
  firstDay: Date.UTC(2025, 0, 1) / 86_400_000,
  days: 396,
  users: 100,
  keysPerUser: 2,
  modelsPerKey: 3,
  models: 20,
  activeHours: 14,
  calls: 100_000_000,
  minuteDays: 2,
};

const names = 'user_name, token_name, model_name';
const sums = 'prompt_tokens, completion_tokens, cache_tokens, cache_creation_tokens, use_time_ms, call_count, amount_nano_usd';
/** Calls of one group; they differ from group to group, so that nothing is small by chance. */
const amounts = (calls: string): string =>
  `${calls} * (800 + number), ${calls} * (200 + number), ${calls} * 300, ${calls} * 20, ${calls} * (1500 + number), ${calls}, ${calls} * (1234567 + number)`;

/**
 * Statements that fill the roll-ups of an empty store directly, the same for every engine. The ledger itself stays
 * empty.
 */
export function fillRollUps(shape: RollUpShape): readonly string[] {
  const { firstDay, days, users, keysPerUser, modelsPerKey, models, activeHours, minuteDays } = shape;
  const groups = users * keysPerUser * modelsPerKey;
  const callsPerHour = Math.max(1, Math.round(shape.calls / days / groups / activeHours));
  const key = Math.floor;
  const rows = Array.from({ length: groups }, (_, number) => {
    const owner = key(number / modelsPerKey / keysPerUser);
    const keyNumber = key(number / modelsPerKey) % keysPerUser;
    const model = (owner * 7 + keyNumber * 3 + (number % modelsPerKey)) % models;
    return `(${number}, 'user-${String(owner).padStart(4, '0')}', 'key-${keyNumber}', 'model-${String(model).padStart(2, '0')}-2025-01-01')`;
  });
  const numbers = (table: string, count: number): string[] => [
    `create table ${table} (n bigint not null)`,
    `insert into ${table} (n) values ${Array.from({ length: count }, (_, n) => `(${n})`).join(', ')}`,
  ];
  const firstMinuteDay = firstDay + days - minuteDays;
  return [
    'create table bench_groups (number bigint not null, user_name text not null, token_name text not null, model_name text not null)',
    `insert into bench_groups (number, ${names}) values ${rows.join(', ')}`,
    ...numbers('bench_days', days),
    ...numbers('bench_hours', activeHours),
    ...numbers('bench_minutes', 60),
    // The hours of each group begin at another hour, so that every hour of the day has some.
    `insert into usage_hours (hour, ${names}, ${sums})
      select (${firstDay} + bench_days.n) * 24 + (bench_hours.n + number) % 24, ${names}, ${amounts(String(callsPerHour))}
      from bench_days cross join bench_hours cross join bench_groups order by 1, 2, 3, 4`,
    `insert into usage_days (day, ${names}, ${sums})
      select (${firstDay} + bench_days.n) * 1440, ${names}, ${amounts(String(callsPerHour * activeHours))}
      from bench_days cross join bench_groups order by 1, 2, 3, 4`,
    `insert into usage_minutes (minute, ${names}, ${sums})
      select ((${firstMinuteDay} + bench_days.n) * 24 + (bench_hours.n + number) % 24) * 60 + bench_minutes.n, ${names}, ${amounts('1')}
      from bench_days cross join bench_hours cross join bench_minutes cross join bench_groups
      where bench_days.n < ${minuteDays} and bench_minutes.n < ${Math.min(60, callsPerHour)} order by 1, 2, 3, 4`,
  ];
}
