import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { silentLogger } from '../../platform/log.ts';
import type { CallEntry } from '../ledger/call-entry.ts';
import { entries } from '../ledger/testing/entry-arbitrary.ts';
import { decodeForLedger } from '../ledger/ledger-form.ts';
import { createJournal, type JournalOptions } from './create-journal.ts';
import type { JournalView } from './journal.ts';
import { MemoryJournalDisk } from './testing/memory-journal-disk.ts';

const base = fc.sample(entries, 1)[0];

function entry(callId: string): CallEntry {
  assert.ok(base);
  return { ...base, callId };
}

/** A journal whose store accepts nothing until the test allows it. */
async function openJournal(limits: JournalOptions['limits'] = {}) {
  const shipped: string[] = [];
  let isDown = true;
  const { journal } = await createJournal({
    directory: '/journal',
    disk: new MemoryJournalDisk(),
    store: {
      appendEncoded: (batch) => {
        if (isDown) return Promise.reject(new Error('down'));
        for (const bytes of batch) shipped.push(decodeForLedger(bytes).callId);
        return Promise.resolve(batch.length);
      },
    },
    clock: { monotonicMs: () => 0 },
    logger: silentLogger,
    settleLost: () => {
      throw new Error('nothing is lost here');
    },
    shipIntervalMs: 1,
    limits: { backoffMs: { first: 1, last: 1 }, ...limits },
  });
  const ship = async (): Promise<void> => {
    isDown = false;
    await journal.drain(AbortSignal.timeout(30_000));
  };
  return { journal, ship, shipped };
}

const ids = (journal: JournalView, callId: string): readonly string[] => journal.pendingRows(callId).map((row) => row.callId);

test('a row is open until its end, then pending, and not in the view after it is shipped', async () => {
  const { journal, ship } = await openJournal();
  const call = entry('req_1');
  journal.open(call);
  assert.deepEqual([journal.findOpen('req_1')?.userName, ids(journal, 'req_1')], [call.userName, []]);
  journal.done(call);
  assert.deepEqual([journal.findOpen('req_1'), ids(journal, 'req_1')], [undefined, ['req_1']]);
  await ship();
  assert.deepEqual([journal.findOpen('req_1'), ids(journal, 'req_1')], [undefined, []]);
  await journal.close();
});

test('parts are found with their call, and calls whose ids begin alike are not', async () => {
  const { journal } = await openJournal();
  const all = ['req_1', 'req_1.1.tools', 'req_1.2', 'req_10', 'req_', 'req_2.2'];
  for (const id of all) journal.done(entry(id));
  assert.deepEqual(ids(journal, 'req_1').toSorted(), ['req_1', 'req_1.1.tools', 'req_1.2']);
  assert.equal(journal.pendingRows('req_10')[0]?.charge.amountNanoUsd, entry('req_10').charge.amountNanoUsd);
  await journal.close();
});

test('entries that are only on the disk are read back', async () => {
  const { journal } = await openJournal({ entriesInMemoryMax: 1 });
  for (const id of ['req_1', 'req_2', 'req_3']) journal.done(entry(id));
  for (const id of ['req_1', 'req_2', 'req_3']) assert.deepEqual(ids(journal, id), [id]);
  await journal.close();
});
