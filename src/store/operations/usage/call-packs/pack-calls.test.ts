import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { openStoreDatabase } from '../../../sqlite/open-store-database.ts';
import { createSqliteDatabase } from '../../../sqlite/sqlite-database.ts';
import { readBytes, readInteger } from '../../read-column.ts';
import { callForm, decodePack } from '../pack.ts';
import { CallPacker } from './pack-calls.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 5);

test('a busy hour is added up minute by minute, by one process, and again if a call comes late meanwhile', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-packs-'));
  const connection = openStoreDatabase({ path: join(directory, 'weir.db'), readOnly: false, busyTimeoutMs: 0 });
  context.after(() => {
    connection.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const database = createSqliteDatabase(connection);
  let calls = 0;
  const addCall = async (atMs: number): Promise<void> => {
    calls += 1;
    await database.run(
      `insert into call_facts values (?, ?, null, ?, 1, 2, 3, 0, 0, 0, 0, 0, 0, 200, 1, 0, 10, 20, 0, 0, 5, null, 1000, 0, 1000, 10, 20, 0, 0, 0)`,
      calls,
      `call-${calls}`,
      atMs,
    );
  };
  for (let minute = 0; minute < 60; minute += 1) await addCall(startMs + minute * 60_000);
  const [packer, other] = [new CallPacker(20), new CallPacker(20)];
  const nowMs = startMs + 2 * hourMs;
  const packed = async (): Promise<number | undefined> => {
    const row = await database.first('select number, sums from call_packs where kind = 0');
    if (row === undefined || readInteger(row, 'number') <= 0) return undefined;
    const { sums } = decodePack(callForm, readBytes(row, 'sums'));
    return sums[callForm.sums.indexOf('call_count')]?.low[0];
  };
  for (let step = 0; step < 30; step += 1) assert.equal(await packer.step(database, nowMs), 'more');
  assert.equal(await other.step(database, nowMs), 'done', 'another process is at it');
  assert.equal(await packed(), undefined);
  await addCall(startMs + 60_000);
  for (let step = 0; step < 60; step += 1) await packer.step(database, nowMs);
  assert.equal(await packed(), undefined, 'the hour was begun again');
  await packer.step(database, nowMs);
  assert.equal(await packed(), 61);
  await addCall(startMs + 2 * 60_000);
  await packer.step(database, nowMs);
  // The process dies, and another one takes over in the end.
  assert.equal(await other.step(database, nowMs), 'done');
  for (let step = 0; step < 61; step += 1) await other.step(database, nowMs + 130_000);
  assert.equal(await packed(), 62);
});
