import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { lockDirectory } from '../../../billing/journal/lock-directory.ts';
import { systemClock } from '../../../platform/clock.ts';
import { silentLogger } from '../../../platform/log.ts';
import type { Store } from '../../../store/store.ts';
import { chooseSlot, createSlotRecovery, recoverSlot } from './journal-slots.ts';

describe('journal slots', () => {
  let dataDirectory: string;
  beforeEach(() => {
    dataDirectory = mkdtempSync(join(tmpdir(), 'weir-slots-'));
  });
  afterEach(() => rmSync(dataDirectory, { recursive: true, force: true }));

  const leave = (slot: string): string => {
    const directory = join(dataDirectory, slot);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'segment-0000000001.v1'), '');
    return directory;
  };

  test('the chosen slot is the first that is not taken and has no living lock', () => {
    assert.equal(chooseSlot(dataDirectory, new Set()), 'journal');
    assert.equal(chooseSlot(dataDirectory, new Set(['journal'])), 'journal-1');
    const release = lockDirectory(leave('journal-1'));
    assert.equal(chooseSlot(dataDirectory, new Set(['journal'])), 'journal-2');
    release();
    assert.equal(chooseSlot(dataDirectory, new Set(['journal'])), 'journal-1');
  });

  test('each abandoned slot is recovered, and no held slot and no other folder', async () => {
    leave('journal');
    leave('journal-2');
    leave('journal-31');
    leave('journal-backup');
    mkdirSync(join(dataDirectory, 'journal-4'));
    const release = lockDirectory(leave('journal-3'));
    const recovered: string[] = [];
    const recovery = createSlotRecovery({
      dataDirectory,
      taken: () => new Set(['journal']),
      recover: async (slot) => recovered.push(slot) > 0,
      logger: silentLogger,
    });
    await recovery.look();
    recovery.close();
    release();
    assert.deepEqual(recovered.toSorted(), ['journal-2', 'journal-31']);
  });

  test('a slot that cannot be recovered delays no other slot, and is retried', async () => {
    leave('journal-1');
    leave('journal-2');
    let attempts = 0;
    const recovery = createSlotRecovery({
      dataDirectory,
      taken: () => new Set(),
      recover: () => {
        attempts += 1;
        return attempts === 1 ? Promise.reject(new Error('held after all')) : Promise.resolve(true);
      },
      logger: silentLogger,
    });
    await recovery.look();
    await recovery.look();
    recovery.close();
    assert.equal(attempts, 4);
  });

  test('a recovered slot is emptied except for damaged segments; the first slot stays a folder', async () => {
    const options = {
      dataDirectory,
      store: { appendEncoded: async (entries: readonly unknown[]) => entries.length, releaseCreditNode: async () => 0 } as unknown as Store,
      clock: systemClock,
      logger: silentLogger,
      settleLost: () => assert.fail('there is no call'),
    };
    for (const slot of ['journal', 'journal-1', 'journal-2']) leave(slot);
    writeFileSync(join(dataDirectory, 'journal-2', 'segment-0000000000.v1.corrupt'), 'x');
    for (const slot of ['journal', 'journal-1', 'journal-2']) assert.equal(await recoverSlot({ ...options, slot }), true);
    assert.deepEqual(readdirSync(join(dataDirectory, 'journal')), []);
    assert.equal(existsSync(join(dataDirectory, 'journal-1')), false);
    assert.deepEqual(readdirSync(join(dataDirectory, 'journal-2')), ['segment-0000000000.v1.corrupt']);
    const release = lockDirectory(leave('journal-5'));
    await assert.rejects(recoverSlot({ ...options, slot: 'journal-5' }), /another process/);
    release();
  });
});
