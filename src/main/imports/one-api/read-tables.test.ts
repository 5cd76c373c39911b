import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { openDatabase } from '../../../store/sqlite/open-database.ts';
import { planOneApi } from '../read-sources.ts';

import { createAccountPlan } from '../plan-accounts.ts';
import { createConfigPlan } from '../plan-config.ts';
import type { OneApiKind } from './channel-types.ts';
import { tidyTargets } from '../tidy-targets.ts';
import { parseTables, readOneApi } from './read-tables.ts';

function read(tables: object, kind: OneApiKind = 'new-api') {
  const [accounts, config] = [createAccountPlan(), createConfigPlan()];
  readOneApi(kind, parseTables(JSON.stringify(tables)), config, accounts);
  tidyTargets(config);
  const notes = config.notes().map(({ what, why }) => `${what}: ${why}`);
  return { ...config.config(), teams: accounts.teams(), users: accounts.users(), keys: accounts.keys(), notes };
}

const channels = [
  { id: 1, type: 1, status: 1, name: 'OpenAI main', key: 'sk-a\nsk-b', models: 'gpt-5,gpt-5-mini', group: 'default,vip', priority: 10 },
  {
    id: 2,
    type: 14,
    status: 1,
    name: 'claude',
    key: 'sk-ant',
    models: 'gpt-5',
    model_mapping: '{"gpt-5":"claude-sonnet-4-5"}',
    group: 'vip',
    priority: 0,
    weight: 5,
  },
  { id: 3, type: 33, status: 1, name: 'aws', key: 'x', models: 'nova', group: 'default' },
  { id: 4, type: 1, status: 2, name: 'off', key: 'x', models: 'gpt-5', group: 'default' },
  { id: 5, type: 1, status: 1, name: 'relay', key: 'k', base_url: 'https://relay.example', models: 'gpt-5-mini', group: 'default' },
];

test('channels become upstreams, and the models of each its targets, the highest priority first', () => {
  const { upstreams, models, notes } = read({ channels });
  assert.deepEqual(upstreams, {
    'openai-main': { vendor: 'openai', apiKeys: ['sk-a', 'sk-b'] },
    claude: { vendor: 'anthropic', apiKey: 'sk-ant' },
    relay: { vendor: 'openai-compatible', baseUrl: 'https://relay.example/v1', apiKey: 'k' },
  });
  assert.deepEqual(models?.['gpt-5']?.targets, [
    { upstream: 'openai-main', priority: 1 },
    { upstream: 'claude', model: 'claude-sonnet-4-5', priority: 2 },
  ]);
  assert.deepEqual(models?.['gpt-5-mini']?.targets, [
    { upstream: 'openai-main', priority: 1 },
    { upstream: 'relay', priority: 2 },
  ]);
  assert.deepEqual(notes, ['channel aws: Weir has no upstream for its type 33', 'channel off: it is disabled']);
});

test('users pay from their quota, groups are teams with their upstreams, and tokens open their keys', () => {
  const { teams, users, keys } = read({
    channels,
    users: [
      { id: 1, username: 'root', status: 1, group: 'vip', quota: 500_000 },
      { id: 2, username: 'li', status: 2, group: 'default', quota: 1 },
      { id: 3, username: 'gone', status: 1, group: 'default', deleted_at: '2026-01-01' },
    ],
    tokens: [
      { id: 1, user_id: 1, key: 'abc', status: 1, name: 'all', expired_time: -1, unlimited_quota: true },
      {
        id: 2,
        user_id: 2,
        key: 'def',
        status: 1,
        name: '',
        expired_time: 1_800_000_000,
        remain_quota: 750_000,
        unlimited_quota: 0,
        model_limits_enabled: 1,
        model_limits: 'gpt-5,gpt-5-mini',
        allow_ips: '10.0.0.0/8\nnonsense',
      },
    ],
  });
  assert.deepEqual(
    teams,
    [
      { name: 'default', limits: { upstreams: ['openai-main', 'relay'] } },
      { name: 'vip', limits: { upstreams: ['openai-main', 'claude'] } },
    ].toReversed(),
  );
  assert.deepEqual(users, [
    { name: 'root', team: 'vip', limits: { prepaid: true }, balance: { usd: '1', reference: 'new-api user 1' } },
    { name: 'li', team: 'default', limits: { prepaid: true }, balance: { usd: '0.000002', reference: 'new-api user 2' } },
  ]);
  assert.deepEqual(keys, [
    { user: 'root', name: 'all', secret: { plain: 'sk-abc' }, limits: {}, isDisabled: false },
    {
      user: 'li',
      name: 'token 2',
      secret: { plain: 'sk-def' },
      limits: { expiresAtMs: 1_800_000_000_000, spendTotal: '1.5', models: ['gpt-5', 'gpt-5-mini'], addresses: ['10.0.0.0/8'] },
      isDisabled: true,
    },
  ]);
});

test('the same number is another service in one-api, and the option for a USD is used', () => {
  const one = read(
    {
      channels: [{ id: 1, type: 36, status: 1, name: 'ds', key: 'k', models: 'deepseek-chat', group: 'default' }],
      users: [{ id: 1, username: 'u', status: 1, quota: 100 }],
      options: [{ key: 'QuotaPerUnit', value: '100' }],
    },
    'one-api',
  );
  assert.deepEqual(one.upstreams, { ds: { vendor: 'openai-compatible', preset: 'deepseek', apiKey: 'k' } });
  assert.equal(one.users[0]?.balance?.usd, '1');
});

test('a SQLite database is read while its program has it open', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-import-'));
  const file = join(folder, 'one-api.db');
  const program = openDatabase(file, { readOnly: false, busyTimeoutMs: 1000 });
  program.execute('create table channels (id integer, type integer, status integer, name text, key text, models text, "group" text)');
  program.execute('create table tokens (id integer, user_id integer, key text, status integer, name text, remain_quota integer)');
  program.execute('create table users (id integer, username text, status integer, quota integer, "group" text)');
  program.execute("insert into channels values (1, 1, 1, 'main', 'sk-a', 'gpt-5', 'default')");
  program.execute("insert into users values (7, 'li', 1, 9007199254740, 'default')");
  program.execute("insert into tokens values (1, 7, 'abc', 1, 'laptop', 500000)");
  try {
    const plan = planOneApi('one-api', file);
    assert.deepEqual(plan.config.models, { 'gpt-5': { targets: [{ upstream: 'main', priority: 1 }] } });
    assert.equal(plan.users[0]?.balance?.usd, '18014398.50948');
    assert.deepEqual(plan.keys, [
      { user: 'li', name: 'laptop', secret: { plain: 'sk-abc' }, limits: { spendTotal: '1' }, isDisabled: false },
    ]);
    program.execute('drop table channels');
    assert.throws(() => planOneApi('one-api', file), /has no channels/);
  } finally {
    program.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('another file is refused', () => {
  assert.throws(() => parseTables('{}'), /no list "channels"/);
  assert.throws(() => parseTables('x'), /neither a SQLite database nor JSON/);
});
