import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Migration } from '../migrations/migration.ts';
import { migrations } from '../migrations/migrations.ts';
import { firstTolerantVersion } from '../migrations/schema-versions.ts';
import { planUpgrade } from './plan-upgrade.ts';

const upTo = (version: number) => migrations.filter((each) => each.version <= version);
const tolerant = upTo(firstTolerantVersion);
const next = firstTolerantVersion + 1;
const migration = (more: Partial<Migration>): Migration => ({ version: next, name: 'next', shared: [], sqlite: [], postgres: [], ...more });

test('a database of this version needs nothing', () => {
  const { state, pending, canGoBack } = planUpgrade(migrations);
  assert.deepEqual({ state, pending, canGoBack }, { state: 'current', pending: [], canGoBack: true });
  assert.equal(planUpgrade([]).state, 'empty');
});

test('an older database names what would run, and the tables whose rows it goes through', () => {
  const shared = [
    'create table notes (\n    id text not null primary key\n  )',
    'create index notes_by_id on notes (id)',
    'create index calls_by_user on calls (user_name)',
    'alter table users add column note text',
    'insert into notes (id) select id from api_keys',
  ];
  const plan = planUpgrade(tolerant, [...tolerant, migration({ shared })]);
  assert.equal(plan.state, 'older');
  assert.deepEqual(plan.pending, [{ version: next, name: 'next', contract: false, tables: ['calls', 'api_keys'] }]);
  assert.equal(plan.canGoBack, true, 'the version before uses the expanded schema');
});

test('one cannot go back after a contract, nor to a version that refuses every newer database', () => {
  assert.equal(planUpgrade(tolerant, [...tolerant, migration({ contract: true })]).canGoBack, false);
  assert.equal(planUpgrade(upTo(firstTolerantVersion - 1)).canGoBack, false);
});

test('a newer database is used if it was only expanded, and refused after a contract', () => {
  const expanded = [...migrations, { version: migrations.length + 1, name: 'a-column-more' }];
  assert.equal(planUpgrade(expanded).state, 'newer');
  assert.equal(planUpgrade([...expanded, { version: migrations.length + 2, name: 'contract:a-column-less' }]).state, 'refused');
});
