import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrations } from './migrations.ts';

test('versions count up from 1 without gaps', () => {
  assert.deepEqual(
    migrations.map((migration) => migration.version),
    migrations.map((_, index) => index + 1),
  );
});

test('shared statements use only column types that every engine has', () => {
  for (const statement of migrations.flatMap((migration) => migration.shared)) {
    const columns = /^create table \w+ \(\n([\s\S]+)\n {2}\)$/.exec(statement)?.[1]?.split('\n') ?? [];
    for (const column of columns) assert.match(column.trim(), /^(\w+ (text|bigint|double precision|smallint)\b|primary key \()/, statement);
    assert.ok(!/autoincrement|without rowid|\bstrict\b|pragma|trigger|datetime|\?/i.test(statement), statement);
  }
});
