import { formatTags } from '../../src/accounts/call-tags.ts';
import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { busyYear, fillRollUps } from '../fill-roll-ups.ts';
import type { BenchDatabase } from './filled-database.ts';

export type Filled = {
  readonly calls: number;
  readonly keys: number;
  /** Ids that exist: of a call in the middle of the year, of a reply, of a key. */
  readonly callId: string;
  readonly replyId: string;
  readonly keyId: string;
  readonly users: readonly string[];
  readonly models: readonly string[];
  readonly upstreams: readonly string[];
};

const dayMs = 86_400_000;
const groups = 600;
const baseCalls = 12_000;
const upstreams = ['openai', 'anthropic', 'google', 'local'];
const errors = ['upstream_timeout', 'upstream_rate_limited', 'upstream_unavailable'];
const userOf = (group: number): string => `caller-${String(Math.floor(group / 6)).padStart(4, '0')}`;
const modelOf = (group: number): string => `model-${String((group * 7) % 20).padStart(2, '0')}-2026-01-01`;
/** Forty projects in three environments. */
const tagsOf = (group: number): string =>
  formatTags({ env: `env-${group % 3}`, project: `project-${String(group % 40).padStart(2, '0')}` });
const keyOf = (group: number): string => `key_01benchmark0000000000000${String(Math.floor(group / 3)).padStart(4, '0')}`;

/** A call as a gateway books it; each of 600 groups has one of twenty calls in turn. */
function createEntry(index: number, acceptedAtMs: number): CallEntry {
  const group = index % groups;
  const tokens = 700 + ((index * 37) % 900);
  const isFailed = index % 50 === 49;
  const callId = `req_01base00000000${String(index).padStart(12, '0')}`;
  return {
    callId,
    acceptedAtMs,
    userName: userOf(group),
    keyId: keyOf(group),
    keyName: `key-${Math.floor(group / 3) % 2}`,
    dialect: 'openai-chat',
    requestedModel: modelOf(group),
    upstream: upstreams[((group * 7) % 20) % upstreams.length] ?? '',
    vendor: 'openai',
    upstreamModel: modelOf(group),
    stream: index % 3 === 0,
    tags: tagsOf(group),
    inputCharacters: tokens * 4,
    priceVersion: '2026-01-01',
    end: isFailed ? 'failed' : 'finished',
    ...(isFailed
      ? { errorCode: errors[index % errors.length] ?? '' }
      : { upstreamStatus: 200, servedModel: modelOf(group), stopReason: 'stop' }),
    usage: { inputTokens: tokens, outputTokens: 150 },
    rawUsage: { prompt_tokens: tokens, completion_tokens: 150, total_tokens: tokens + 150 },
    estimated: false,
    durationMs: 300 + ((index * 17) % 4000),
    firstByteMs: 100 + ((index * 13) % 900),
    charge: {
      amountNanoUsd: isFailed ? 0n : BigInt(tokens * 2500 + 150 * 10_000),
      lines: [
        { meter: 'input', quantity: tokens, unitPrice: '2.5', per: 1_000_000 },
        { meter: 'output', quantity: 150, unitPrice: '10', per: 1_000_000 },
      ],
      priceId: 'model',
    },
  };
}

const copiedOfCalls =
  'user_name, key_name, requested_model, amount_nano_usd, billed, prompt_tokens, completion_tokens, cache_tokens, cache_creation_tokens, use_time_ms, entry, key_id, held_pots, disputed, unpriced, shape';
const copiedOfFacts =
  'user_ref, key_ref, model_ref, served_ref, upstream_ref, upstream_model_ref, interface_ref, error_ref, end_code, status, billed, flags, prompt_tokens, completion_tokens, cache_tokens, cache_creation_tokens, use_time_ms, first_byte_ms, amount_nano_usd, whole_kusd, whole_nano, whole_prompt, whole_completion, whole_end, team_ref, tags_ref';
const copiedOfService =
  'upstream_ref, upstream_model_ref, interface_ref, end_code, ended, attempts, call_count, prompt_tokens, completion_tokens, cache_tokens, cache_creation_tokens, use_time_ms, amount_kusd, amount_nano, first_byte, duration';

/** Copies of the booked calls in one statement. */
const blocksAtOnce = 20;
const idOf = (prefix: string, number: string): string => `'${prefix}_01copy00000000' || substr(cast(1000000000000 + ${number} as text), 2)`;

/**
 * Fills an empty store: books 12,000 calls as a gateway does, follows them, and copies their rows through a year up to
 * the present. The roll-ups of usage have the hundred million calls of `bench/statistics.ts`.
 */
export async function fillConsole(
  database: BenchDatabase,
  sizes: { readonly calls: number; readonly keys: number },
  nowMs: number,
): Promise<Filled> {
  const blocks = Math.max(1, Math.ceil(sizes.calls / baseCalls));
  const windowMs = Math.floor((365 * dayMs) / blocks);
  const startMs = nowMs - (blocks + 1) * windowMs;
  const step = (text: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${database.name}: ${text}`);
  step(`booking ${baseCalls} calls`);
  const store = await database.openStore();
  try {
    for (let at = 0; at < baseCalls; at += 500) {
      const entries = Array.from({ length: 500 }, (_, index) =>
        createEntry(at + index, startMs + Math.floor(((at + index) * windowMs) / baseCalls)),
      );
      await store.appendEntries(entries);
    }
    while ((await store.followCalls(200, nowMs)) === 'more');
  } finally {
    await store.close();
  }
  step(`copying them ${blocks} times`);
  await copyCalls(database, blocks, windowMs);
  step('filling roll-ups and keys');
  await fillSums(database, nowMs, sizes.calls < 1_000_000);
  for (const sql of fillKeys(sizes.keys, nowMs)) await database.execute(sql);
  await database.execute('analyze');
  await database.settle();
  step('filled');
  const number = String(blocks * 5000).padStart(12, '0');
  const [callId = '', replyId = ''] = [
    await database.list(`select call_id from calls where call_id >= 'req_01copy00000000${number}' order by call_id limit 1`),
    await database.list(`select reply_id from calls where reply_id >= 'chatcmpl_01copy00000000${number}' order by reply_id limit 1`),
  ].flat();
  return {
    calls: blocks * baseCalls,
    keys: sizes.keys,
    callId,
    replyId,
    keyId: 'key_01filled000000000000000042',
    users: [userOf(0), userOf(300)],
    models: [modelOf(1), modelOf(2)],
    upstreams,
  };
}

/** Indexes are made again afterwards, which is faster than to keep them. */
async function copyCalls(database: BenchDatabase, blocks: number, windowMs: number): Promise<void> {
  const isServer = database.name === 'PostgreSQL';
  const indexes = [...(await database.indexesOf('calls')), ...(await database.indexesOf('call_facts'))];
  for (const { name } of indexes) await database.execute(`drop index ${name}`);
  // Copied rows have their facts already.
  if (isServer) await database.execute('alter table calls disable trigger calls_queue');
  await database.execute(`create table bench_calls as
    select row_number() over (order by accepted_at_ms, call_id) as ordinal, call_id, accepted_at_ms, ${copiedOfCalls} from calls where shape is not null`);
  await database.execute(`create table bench_facts as
    select ordinal, at_ms, ${copiedOfFacts
      .split(', ')
      .map((name) => `call_facts.${name}`)
      .join(', ')}
    from bench_calls cross join call_facts where call_facts.call_id = bench_calls.call_id`);
  const [copied = '0'] = await database.list('select count(*) from bench_calls');
  // As many as there are of whole text, so that every block has its twelve thousand.
  const copies = Math.ceil((blocks * baseCalls) / Number(copied));
  await database.execute(`create table bench_blocks (n bigint not null primary key)`);
  await database.execute(`insert into bench_blocks (n) values ${Array.from({ length: copies }, (_, n) => `(${n})`).join(', ')}`);
  const shiftMs = Math.floor((blocks * windowMs) / copies);
  for (let from = 0; from < copies; from += blocksAtOnce) {
    const range = `bench_blocks.n >= ${from} and bench_blocks.n < ${from + blocksAtOnce} order by bench_blocks.n, ordinal`;
    const number = `(bench_blocks.n * ${copied} + ordinal)`;
    const shift = `(bench_blocks.n + 1) * ${shiftMs}`;
    await database.execute(`insert into calls (call_id, accepted_at_ms, reply_id, ${copiedOfCalls})
      select ${idOf('req', number)}, accepted_at_ms + ${shift}, case ordinal % 10 when 0 then ${idOf('chatcmpl', number)} end, ${copiedOfCalls}
      from bench_blocks cross join bench_calls where ${range}`);
    await database.execute(`insert into call_facts (number, call_id, at_ms, ${copiedOfFacts})
      select ${baseCalls} + ${number}, ${idOf('req', number)}, at_ms + ${shift}, ${copiedOfFacts}
      from bench_blocks cross join bench_facts where ${range}`);
  }
  for (const { sql } of indexes) await database.execute(sql);
  await database.execute(`update call_follow set next_number = ${baseCalls + copies * Number(copied) + 1}`);
  if (isServer) await database.execute('alter table calls enable trigger calls_queue');
  for (const table of ['bench_calls', 'bench_facts', 'bench_blocks']) await database.execute(`drop table ${table}`);
}

/** @param isTrial fewer hours and minutes, so that a trial of the benchmark takes little time */
async function fillSums(database: BenchDatabase, nowMs: number, isTrial: boolean): Promise<void> {
  const today = Math.floor(nowMs / dayMs);
  const shape = { ...busyYear, firstDay: today - busyYear.days + 1, ...(isTrial && { activeHours: 2, minuteDays: 1 }) };
  for (const sql of fillRollUps(shape)) await database.execute(sql);
  for (const table of ['bench_groups', 'bench_days', 'bench_hours', 'bench_minutes']) await database.execute(`drop table ${table}`);
  const fill = async (table: string, unit: string, times: readonly number[]): Promise<void> => {
    await database.execute(`create table bench_units (unit bigint not null)`);
    await database.execute(`insert into bench_units (unit) values ${times.map((time) => `(${time})`).join(', ')}`);
    await database.execute(
      `create table bench_service as select ${copiedOfService} from ${table} where ${unit} = (select max(${unit}) from ${table})`,
    );
    await database.execute(`insert into ${table} (${unit}, ${copiedOfService})
      select unit, ${copiedOfService} from bench_units cross join bench_service where unit > (select max(${unit}) from ${table})`);
    await database.execute('drop table bench_units');
    await database.execute('drop table bench_service');
  };
  const units = (count: number, first: number, length: number): readonly number[] =>
    Array.from({ length: count }, (_, at) => first + at * length);
  await fill('service_days', 'day', units(365, (today - 364) * 1440, 1440));
  await fill('service_hours', 'hour', units(365 * 24, (today - 364) * 24, 1));
  await fill('service_minutes', 'minute', units(2 * 1440, Math.floor(nowMs / 60_000) - 2 * 1440, 1));
}

/** Keys that were made in the course of a year, of a thousand users. */
function fillKeys(keys: number, nowMs: number): readonly string[] {
  const thousands = Math.ceil(keys / 1000);
  const number = '(thousands.n * 1000 + ones.n)';
  const padded = (value: string, digits: number): string => `substr(cast(${10 ** digits} + ${value} as text), 2)`;
  const created = `${nowMs - 365 * dayMs} + ${number} * ${Math.floor((365 * dayMs) / keys)}`;
  return [
    'create table bench_numbers (n bigint not null)',
    `insert into bench_numbers (n) values ${Array.from({ length: 1000 }, (_, n) => `(${n})`).join(', ')}`,
    `insert into users (id, name, created_at_ms) select 'user_01filled00000000000000' || ${padded('n', 4)}, 'owner-' || ${padded('n', 4)}, ${nowMs - 365 * dayMs}
      from bench_numbers`,
    `insert into api_keys (id, user_id, name, hash, hint, created_at_ms)
      select 'key_01filled0000000000' || ${padded(number, 8)}, 'user_01filled00000000000000' || ${padded('ones.n', 4)}, 'key-' || cast(thousands.n as text),
        'filled-' || cast(${number} as text), 'wk…', ${created}
      from bench_numbers as thousands cross join bench_numbers as ones where thousands.n < ${thousands}`,
    `insert into api_key_uses (key_id, used_at_ms) select id, created_at_ms + 1000 from api_keys where hash like 'filled-%'`,
    'drop table bench_numbers',
  ];
}
