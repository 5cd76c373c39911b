import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import fc from 'fast-check';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { pricedMembers, type PricedEntry, type PricedRow, type PricedRowStore } from '../../src/billing/staging/priced-row.ts';
import { createPricedRowOperations } from '../../src/store/operations/priced-row-operations.ts';
import { callEntries } from './call-entries.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';
import { startMs } from './suite-start.ts';

/** The part of an entry that its price depends on. */
export function pricedPart(entry: PricedEntry): Record<string, unknown> {
  return Object.fromEntries(pricedMembers.flatMap((name) => (entry[name] === undefined ? [] : [[name, entry[name]]])));
}

/** All rows of a span, in pages. */
export async function listPriced(store: PricedRowStore, span: { readonly startMs: number; readonly endMs: number }, limit: number) {
  const rows: PricedRow[] = [];
  for (;;) {
    const after = rows.at(-1);
    const page = await store.listPricedRows({ ...span, limit, ...(after !== undefined && { after }) });
    rows.push(...page);
    if (page.length < limit) return rows;
  }
}

/** Calls of one kind differ in numbers. */
function variantsOf(entry: CallEntry, run: number): readonly CallEntry[] {
  return [0, 1, 2, 3].map((index) => ({
    ...entry,
    callId: `priced-${run}-${entry.callId}-${index}`,
    acceptedAtMs: entry.acceptedAtMs + (index % 2),
    durationMs: index,
    charge: { ...entry.charge, amountNanoUsd: BigInt(run + index) },
    usage: { ...entry.usage, inputTokens: 1000 + (index >> 1) },
    // A number in a text looks like one of the entry's own.
    ...(entry.pricingParameters !== undefined && { pricingParameters: { ...entry.pricingParameters, '/n': `{"n":${index >> 1}}` } }),
  }));
}

/** The contract of every engine for rows that are priced again. */
export function pricedRowSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);
  before(async () => {
    let run = 0;
    const options = { prefix: 'p', startMs, spanMs: 40, max: 8 };
    const drawn = fc.sample(callEntries(options), { numRuns: 25, seed: 11 }).flatMap((entries) => {
      run += 1;
      return entries.flatMap((entry) => variantsOf(entry, run));
    });
    assert.ok(drawn.length > 100);
    await engine().store().appendEntries(drawn);
  });

  /** Reads the database in its present state. */
  async function read<Result>(work: (rows: PricedRowStore) => Promise<Result>): Promise<Result> {
    const { database, end } = await engine().openSnapshots().open();
    try {
      return await work(createPricedRowOperations(database));
    } finally {
      await end();
    }
  }

  test('each row has the time, the amount and the priced members of its entry, in pages of any size', async () => {
    const span = { startMs: startMs + 2, endMs: startMs + 30 };
    const entries = await engine()
      .store()
      .listEntriesBetween({ ...span, limit: 5000 });
    assert.ok(entries.length > 50);
    for (const limit of [3, 5000]) {
      const rows = await read((store) => listPriced(store, span, limit));
      assert.deepEqual(
        rows.map(({ callId, acceptedAtMs, amountNanoUsd }) => [callId, acceptedAtMs, amountNanoUsd]),
        entries.map(({ callId, acceptedAtMs, charge }) => [callId, acceptedAtMs, charge.amountNanoUsd]),
      );
      assert.deepEqual(
        rows.map((row) => pricedPart(row.readEntry())),
        entries.map(pricedPart),
      );
    }
  });

  test('rows of one kind have the same priced members, and rows with the same ones share a kind', async () => {
    const rows = await read((store) => listPriced(store, { startMs, endMs: startMs + 100 }, 1000));
    const kinds = new Map<string, Record<string, unknown>>();
    for (const row of rows) {
      if (row.kind === undefined) continue;
      const part = pricedPart(row.readEntry());
      assert.deepEqual(part, kinds.getOrInsert(row.kind, part));
    }
    // The first row of each shape is stored as a whole.
    const shaped = rows.filter(({ kind }) => kind !== undefined).length;
    assert.ok(shaped > rows.length / 2, `${shaped} of ${rows.length}`);
    assert.ok(kinds.size < shaped * 0.8, `${kinds.size} of ${shaped}`);
  });

  test('a page that is too large is refused', async () => {
    const page = { startMs, endMs: startMs + 1, limit: 10_001 };
    await assert.rejects(
      read((store) => store.listPricedRows(page)),
      { kind: 'constraint' },
    );
  });
}
