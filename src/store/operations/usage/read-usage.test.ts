import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import type { UsageRank, UsageRead } from '../../../billing/usage/usage-store.ts';
import { openStoreDatabase } from '../../sqlite/open-store-database.ts';
import { createSqliteDatabase } from '../../sqlite/sqlite-database.ts';
import { NameReader } from '../facts/name-reader.ts';
import { callPacks } from './call-packs/take-call-packs.ts';
import { KeptPacks } from './kept-packs.ts';
import { usagePacks } from './packed-usage.ts';
import { readUsage } from './read-usage.ts';

const hourSeconds = 3600;
const firstHour = Date.UTC(2026, 0, 5) / 3_600_000;
const hours = 6;

test('groups are the same whether they are chosen here or by the database, for every rank, and of given names', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-usage-'));
  const connection = openStoreDatabase({ path: join(directory, 'weir.db'), readOnly: false, busyTimeoutMs: 0 });
  context.after(() => {
    connection.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const database = createSqliteDatabase(connection);
  // Two users have the same sums, and one of them more than a double holds exactly.
  for (let hour = 0; hour < hours; hour += 1) {
    for (const [user, weight] of [
      ['ann', 1],
      ['bob', 5],
      ['cem', 5],
    ] as const) {
      for (const model of ['big', 'small']) {
        const tokens = weight * (hour + 1);
        const amount = BigInt(tokens) * 2_000_000_000_000_000n + (model === 'big' ? 1n : 0n);
        await database.run(
          `insert into usage_hours (hour, user_name, token_name, model_name, prompt_tokens, completion_tokens, cache_tokens,
             cache_creation_tokens, use_time_ms, call_count, amount_nano_usd) values (?, ?, 'key', ?, ?, ?, 0, 0, ?, ?, ?)`,
          firstHour + hour,
          user,
          model,
          tokens,
          100 - tokens,
          tokens * 3,
          weight,
          amount,
        );
      }
    }
  }
  const readers = { names: new NameReader(), packs: { usage: new KeptPacks(usagePacks), calls: new KeptPacks(callPacks) } };
  const startSeconds = firstHour * hourSeconds;
  const plain: UsageRead = {
    family: 'usage',
    buckets: Array.from({ length: hours }, (_, hour) => ({
      startSeconds: startSeconds + hour * hourSeconds,
      endSeconds: startSeconds + (hour + 1) * hourSeconds,
    })),
    startSeconds,
    endSeconds: startSeconds + hours * hourSeconds,
    groupBy: ['user', 'model'],
    filter: {},
    scope: 'all',
    withDurations: false,
    groups: { limit: 3, rankBy: 'amount' },
    nowMs: 0,
  };
  const ranks: readonly UsageRank[] = ['amount', 'calls', 'tokensIn', 'tokensOut', 'useTime'];
  const reads: readonly UsageRead[] = [
    ...ranks.map((rankBy) => ({ ...plain, groups: { limit: 3, rankBy } })),
    {
      ...plain,
      groups: {
        names: [
          ['cem', 'big'],
          ['nobody', 'big'],
          ['ann', 'small'],
        ],
      },
    },
    { ...plain, groupBy: ['key'], filter: { models: ['big'] } },
    { ...plain, groupBy: [] },
  ];
  for (const read of reads) {
    const [here, there] = [
      await readUsage(database, readers, read),
      await readUsage(database, readers, read, { plain: 3, withDurations: 3 }),
    ];
    assert.deepEqual(here, there);
    assert.equal(here.totals.size, hours);
  }
  const { series } = await readUsage(database, readers, plain);
  assert.deepEqual(
    series.map(({ names }) => names),
    [
      ['bob', 'big'],
      ['cem', 'big'],
      ['bob', 'small'],
    ],
  );
});
