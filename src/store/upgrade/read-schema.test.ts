import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { openStoreDatabase } from '../sqlite/open-store-database.ts';
import { readSqliteSchema } from './read-schema.ts';

test('the rate is measured on the largest table, and unknown for a small database', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-schema-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'weir.sqlite');
  const database = openStoreDatabase({ path, readOnly: false, busyTimeoutMs: 5000 });
  assert.equal((await readSqliteSchema(path)).rowsPerSecond, undefined);
  const rows = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select';
  database.execute(`insert into counters (name, value) ${rows} 'n' || i, i from n`);
  const { rowsPerSecond, rows: counted } = await readSqliteSchema(path);
  database.close();
  assert.ok((counted.get('counters') ?? 0) >= 5000);
  assert.ok(rowsPerSecond !== undefined && rowsPerSecond > 100 && rowsPerSecond < 1e9, String(rowsPerSecond));
});
