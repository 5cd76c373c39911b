import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import fc from 'fast-check';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { encodeForStore, joinEncoded } from '../../src/store/operations/encoded-batch.ts';
import { createCallFactsOperations, createFollowerMemory } from '../../src/store/operations/facts/call-facts-operations.ts';
import { followBooked } from '../../src/store/operations/facts/follow-calls.ts';
import { createLedgerOperations } from '../../src/store/operations/ledger-operations.ts';
import { noPace } from '../../src/store/sqlite/give-way.ts';
import { openStoreDatabase } from '../../src/store/sqlite/open-store-database.ts';
import { createSqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import { callEntries, createEntry } from './call-entries.ts';
import { startMs } from './suite-start.ts';

/**
 * An empty database whose facts are written with their booking, or only by the follower.
 * @param isBusy the process has no processor time to spare
 */
function openBooks({ withBooking, isBusy = false }: { readonly withBooking: boolean; readonly isBusy?: boolean }) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-booked-facts-'));
  const connection = openStoreDatabase({ path: join(folder, 'weir.db'), readOnly: false, busyTimeoutMs: 1000 });
  const database = createSqliteDatabase(connection, { ...noPace, isBusy: () => isBusy });
  const memory = createFollowerMemory();
  const ledger = createLedgerOperations(database, withBooking ? (part, rows) => followBooked(part, memory, rows) : undefined);
  const { followCalls, followProgress } = createCallFactsOperations(database, memory);
  return {
    connection,
    rowsPerInsert: () => database.fragments.rowsPerInsert,
    followProgress,
    /** @param nodeId rows of no journal are left to the follower */
    book: (entries: readonly CallEntry[], nodeId: string | undefined) =>
      ledger.appendBatch(joinEncoded(entries.map(encodeForStore)), nodeId),
    follow: async () => {
      while ((await followCalls(40, startMs)) === 'more');
    },
    facts: () => ({
      calls: connection.all('select * from call_facts order by number'),
      names: connection.all('select * from fact_names order by id'),
      minutes: connection.all('select * from service_minutes'),
      hours: connection.all('select * from service_hours'),
      days: connection.all('select * from service_days'),
    }),
    [Symbol.dispose]: () => {
      connection.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

test('facts that are written with a booking are those that the follower writes, for any calls in any batches', async () => {
  const batch = fc.record({ entries: callEntries({ prefix: 'booked', startMs, spanMs: 7_200_000, max: 40 }), isOfJournal: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 4 }), async (batches) => {
      using one = openBooks({ withBooking: true });
      using other = openBooks({ withBooking: false });
      for (const [index, { entries, isOfJournal }] of batches.entries()) {
        // The last entry comes again with the next batch.
        const named = entries.map((entry) => ({ ...entry, callId: `${entry.callId}-${index}` }));
        const again = batches[index - 1]?.entries.slice(-1).map((entry) => ({ ...entry, callId: `${entry.callId}-${index - 1}` })) ?? [];
        for (const books of [one, other]) await books.book([...again, ...named], isOfJournal ? 'node' : undefined);
        await other.follow();
        if (!isOfJournal) await one.follow();
        assert.deepEqual(await one.followProgress(), { waiting: 0, old: 0 });
      }
      assert.deepEqual(one.facts(), other.facts());
    }),
    { numRuns: 25 },
  );
});

const callsOf = (name: string) =>
  Array.from({ length: 5 }, (_, index) => createEntry(`${name}-${index}`, { acceptedAtMs: startMs + index }));

test('a busy process books with larger statements what an idle one books, also if some calls come again', async () => {
  using busy = openBooks({ withBooking: true, isBusy: true });
  using idle = openBooks({ withBooking: true });
  assert.ok(Math.max(...busy.rowsPerInsert()) > Math.max(...idle.rowsPerInsert()));
  const samples = fc.sample(callEntries({ prefix: 'busy', startMs, spanMs: 7_200_000, max: 40 }), { numRuns: 40, seed: 7 });
  const first = samples.flatMap((entries, index) => entries.map((entry) => ({ ...entry, callId: `${entry.callId}-${index}` })));
  assert.ok(first.length > 80, `${first.length} entries`);
  const again = [...first.slice(20, 60), ...callsOf('new')];
  for (const books of [busy, idle]) {
    assert.equal(await books.book(first, 'node'), first.length);
    assert.equal(await books.book(again, 'node'), 5);
  }
  const callsIn = ({ connection }: typeof busy) => connection.all('select * from calls order by rowid');
  assert.deepEqual(callsIn(busy), callsIn(idle));
  assert.deepEqual(busy.facts(), idle.facts());
});

test('a booking leaves its facts to the follower while others wait, so that facts keep the order of booking', async () => {
  using books = openBooks({ withBooking: true });
  await books.book(callsOf('first'), undefined);
  await books.book(callsOf('second'), 'node');
  assert.equal((await books.followProgress()).waiting, 10);
  await books.follow();
  await books.book(callsOf('third'), 'node');
  assert.equal((await books.followProgress()).waiting, 0);
  const ids = books.facts().calls.map((row) => row['call_id']);
  assert.deepEqual(
    ids,
    ['first', 'second', 'third'].flatMap((name) => callsOf(name).map(({ callId }) => callId)),
  );
});

test('calls are booked although their facts cannot be written, and the follower says why', async () => {
  using books = openBooks({ withBooking: true });
  books.connection.execute('alter table service_hours rename to service_hours_elsewhere');
  assert.equal(await books.book(callsOf('booked'), 'node'), 5);
  const counted = books.connection.first('select count(*) as calls, (select count(*) from call_facts) as facts from calls');
  assert.deepEqual({ ...counted }, { calls: 5n, facts: 0n });
  await assert.rejects(books.follow(), /service_hours/);
  books.connection.execute('alter table service_hours_elsewhere rename to service_hours');
  await books.follow();
  assert.equal(books.facts().calls.length, 5);
});

test('an insert that fails at one of its rows leaves none of the others, neither calls nor facts', async () => {
  using books = openBooks({ withBooking: true });
  const count = (table: string) => books.connection.first(`select count(*) as rows from ${table}`)?.['rows'];
  books.connection.execute(
    `create trigger refuse before insert on calls when new.call_id = 'booked-3' begin select raise(fail, 'refused'); end`,
  );
  await assert.rejects(books.book(callsOf('booked'), 'node'), /refused/);
  for (const table of ['calls', 'usage_minutes', 'ledger_transactions', 'call_facts']) assert.equal(count(table), 0n, table);

  books.connection.execute('drop trigger refuse');
  books.connection.execute(
    `create trigger refuse before insert on call_facts when new.call_id = 'booked-3' begin select raise(fail, 'refused'); end`,
  );
  assert.equal(await books.book(callsOf('booked'), 'node'), 5);
  assert.equal(count('call_facts'), 0n);
  await assert.rejects(books.follow(), /refused/);
  assert.equal(count('call_facts'), 0n);
  books.connection.execute('drop trigger refuse');
  await books.follow();
  assert.deepEqual([count('calls'), count('call_facts')], [5n, 5n]);
});
