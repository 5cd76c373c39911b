import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SealedProof } from '../../src/inference/proof-store.ts';
import { usualOrLong } from '../support/scale.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';

const unlimited = { bytesMax: 1e12, rowsMax: 10_000 };

/** The behaviour of every engine for sealed reasoning proofs. */
export function proofSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  const createProof = (lookup: string, expiresAtMs: number, bytes = 8): SealedProof => ({ lookup, sealed: 'A'.repeat(bytes), expiresAtMs });
  const find = (lookups: readonly string[], nowMs = 0, bytesMax = 1e9) => engine().store().findProofs({ lookups, nowMs, bytesMax });
  const sweepAll = () =>
    engine()
      .store()
      .sweepProofs({ ...unlimited, nowMs: Number.MAX_SAFE_INTEGER });

  test('stored proofs are found in the requested order, also after a restart and by another handle', async () => {
    const proofs = [createProof('a', 1000), createProof('b', 2000), createProof('c', 3000)];
    await engine().store().putProofs(proofs);
    const wanted = [proofs[2], proofs[0]];
    assert.deepEqual(await find(['c', 'unknown', 'a']), wanted);
    const another = await engine().openAnother();
    assert.deepEqual(await another.findProofs({ lookups: ['c', 'a'], nowMs: 0, bytesMax: 1e9 }), wanted);
    await engine().reopen();
    assert.deepEqual(await find(['c', 'a']), wanted);
    assert.deepEqual(await find([]), []);
    assert.equal(await sweepAll(), 3);
  });

  test('the same lookup replaces the row, within a batch too', async () => {
    await engine()
      .store()
      .putProofs([createProof('twice', 1000), { ...createProof('twice', 2000), sealed: 'BBBB' }]);
    assert.deepEqual(await find(['twice']), [{ lookup: 'twice', sealed: 'BBBB', expiresAtMs: 2000 }]);
    await engine()
      .store()
      .putProofs([createProof('twice', 500)]);
    assert.deepEqual(await find(['twice']), [createProof('twice', 500)]);
    await engine().store().putProofs([]);
    assert.equal(await sweepAll(), 1);
  });

  test('an expired row is not found, swept or not', async () => {
    await engine()
      .store()
      .putProofs([createProof('old', 1000), createProof('new', 1001)]);
    assert.deepEqual(await find(['old', 'new'], 1000), [createProof('new', 1001)]);
    assert.equal(
      await engine()
        .store()
        .sweepProofs({ ...unlimited, nowMs: 1000 }),
      1,
    );
    assert.deepEqual(await find(['old', 'new']), [createProof('new', 1001)]);
    assert.equal(await sweepAll(), 1);
  });

  test('reading ends after the row that exceeds the bytes', async () => {
    await engine()
      .store()
      .putProofs(['1', '2', '3'].map((lookup) => createProof(lookup, 1000, 100)));
    const found = async (bytesMax: number): Promise<readonly string[]> =>
      (await find(['3', '2', '1'], 0, bytesMax)).map(({ lookup }) => lookup);
    assert.deepEqual(await found(0), ['3']);
    assert.deepEqual(await found(99), ['3']);
    assert.deepEqual(await found(100), ['3', '2']);
    assert.deepEqual(await found(1000), ['3', '2', '1']);
    assert.equal(await sweepAll(), 3);
  });

  test('a sweep deletes at most its limit, and returns the number', async () => {
    await engine()
      .store()
      .putProofs(Array.from({ length: 25 }, (_, index) => createProof(`row-${index}`, index)));
    const sweep = () => engine().store().sweepProofs({ nowMs: 100, bytesMax: 1e9, rowsMax: 10 });
    assert.deepEqual([await sweep(), await sweep(), await sweep(), await sweep()], [10, 10, 5, 0]);
  });

  test('any puts and sweeps leave exactly the rows that have not expired and fit, those that expire last', async () => {
    const row = fc.record({ lookup: fc.integer({ min: 0, max: 9 }), expiresAtMs: fc.nat(1000), bytes: fc.integer({ min: 1, max: 50 }) });
    const step = fc.record({ rows: fc.array(row, { maxLength: 8 }), nowMs: fc.nat(1000), bytesMax: fc.nat(300) });
    const names = Array.from({ length: 10 }, (_, index) => `p-${index}`);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
        const { putProofs, sweepProofs, findProofs } = engine().store();
        // One expiry belongs to one lookup, so that the order of deletion is known.
        const model = new Map<string, SealedProof>();
        for (const { rows, nowMs, bytesMax } of steps) {
          const proofs = rows.map(({ lookup, expiresAtMs, bytes }) => createProof(`p-${lookup}`, expiresAtMs * 10 + lookup + 1, bytes));
          await putProofs(proofs);
          for (const proof of proofs) model.set(proof.lookup, proof);
          await sweepProofs({ nowMs: nowMs * 10, bytesMax, rowsMax: 100 });
          let bytes = 0;
          for (const proof of [...model.values()].toSorted((left, right) => right.expiresAtMs - left.expiresAtMs)) {
            bytes += proof.sealed.length;
            if (proof.expiresAtMs <= nowMs * 10 || bytes > bytesMax) model.delete(proof.lookup);
          }
          const expected = names.flatMap((name) => model.get(name) ?? []);
          assert.deepEqual(await findProofs({ lookups: names, nowMs: 0, bytesMax: 1e9 }), expected);
        }
        await sweepAll();
      }),
      { numRuns: usualOrLong(20, 60) },
    );
  });

  test('two handles that write and sweep simultaneously keep the sum of the bytes correct', async () => {
    const stores = [engine().store(), await engine().openAnother()];
    const nowMs = 0;
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        const store = stores[index % 2] ?? assert.fail();
        const proofs = Array.from({ length: 10 }, (__, row) => createProof(`r-${(index * 7 + row) % 50}`, 1000 + row, 10 + (index % 40)));
        return index % 5 === 4 ? store.sweepProofs({ nowMs, bytesMax: 200, rowsMax: 10 }) : store.putProofs(proofs);
      }),
    );
    const names = Array.from({ length: 50 }, (_, index) => `r-${index}`);
    const before = await find(names);
    const bytes = before.reduce((sum, { sealed }) => sum + sealed.length, 0);
    assert.equal(await engine().store().sweepProofs({ nowMs, bytesMax: bytes, rowsMax: 100 }), 0, 'everything fits exactly');
    assert.equal(
      await engine()
        .store()
        .sweepProofs({ nowMs, bytesMax: bytes - 1, rowsMax: 100 }),
      1,
      'with one byte less, one row must be deleted',
    );
    await sweepAll();
  });
}
