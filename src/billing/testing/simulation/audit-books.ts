import assert from 'node:assert/strict';

import type { AccessLimits } from '../../../accounts/access-limits.ts';
import { allPots, limitNanoUsd, type Pot } from '../../credits/pots.ts';
import { type ExpectedRow, keyLimits, ownerOf, type SimulatedWorld, userLimits } from './simulated-world.ts';
import type { BookedRow, BooksAtRest } from './world-books.ts';

/**
 * Throws unless the books of a world at rest are exact to the nano-USD.
 * @param others the expected rows that are not calls of the world
 */
export async function auditBooks(
  world: SimulatedWorld,
  books: BooksAtRest,
  others: ReadonlyMap<string, ExpectedRow> = new Map(),
): Promise<void> {
  assert.equal(world.callsUnderWay, 0, 'every call has ended');
  assert.equal(world.expected.size, world.counts.calls, 'the end of every call is known');
  checkRows(books, new Map([...world.expected, ...others]));
  await checkPots(world, books);
  for (const { desk, journal, nodeId } of world.processes) {
    assert.equal(journal.pendingEntries(), 0, `${nodeId} has shipped everything`);
    const { held, waiting, overdrafts } = desk.figures();
    assert.deepEqual({ held, waiting, overdrafts }, { held: 0n, waiting: 0, overdrafts: 0 }, nodeId);
  }
  await checkStatistics(books);
}

/** M1, M2, M3, M9: one row with the right amount for each call, and no other rows. */
function checkRows(books: BooksAtRest, expected: ReadonlyMap<string, ExpectedRow>): void {
  let missing = 0;
  for (const [callId, { least, most, mayBeMissing }] of expected) {
    const row = books.rows.get(callId);
    if (row === undefined) {
      assert.ok(mayBeMissing, `${callId} has no row`);
      missing += 1;
      continue;
    }
    const { amountNanoUsd } = row;
    assert.ok(least <= amountNanoUsd && amountNanoUsd <= most, `${callId}: ${amountNanoUsd} is not in ${least} to ${most}`);
  }
  assert.equal(books.rows.size, expected.size - missing, 'every row belongs to a call');
}

function limitsOf({ keyId, owner }: Extract<Pot, { kind: 'spend' }>): AccessLimits | undefined {
  if (keyId !== undefined) return keyLimits[keyId];
  return owner.level === 'user' ? userLimits[owner.userName] : undefined;
}

/** M4, M5, M6, M7: the spend is the sum of the rows and within every limit, and nothing is leased at rest. */
async function checkPots({ paidNanoUsd }: SimulatedWorld, books: BooksAtRest): Promise<void> {
  const spent = new Map<string, bigint>();
  const pots = new Map<string, Pot>();
  const limits = new Map<string, bigint>();
  for (const row of books.rows.values())
    for (const pot of allPots(row)) {
      spent.set(pot.id, (spent.get(pot.id) ?? 0n) + row.amountNanoUsd);
      pots.set(pot.id, pot);
      if (pot.kind === 'balance') continue;
      const { spendPerDay, spendPerMonth, spendTotal } = limitsOf(pot) ?? {};
      const limit = { day: spendPerDay, month: spendPerMonth, total: spendTotal }[pot.period];
      if (limit !== undefined) limits.set(pot.id, limitNanoUsd(limit));
    }
  for (const [potId, pot] of pots) {
    const sum = spent.get(potId) ?? 0n;
    const { spent: booked, reserved } = await books.readPot(pot);
    if (pot.kind === 'spend') assert.equal(booked, sum, potId);
    assert.equal(reserved, 0n, `leased or held of ${potId} at rest`);
    const limit = limits.get(potId);
    if (limit !== undefined) assert.ok(sum <= limit, `${potId}: ${sum} of ${limit}`);
  }
  const ann = spent.get('balance:ann') ?? 0n;
  assert.ok(ann <= paidNanoUsd, `${ann} spent of ${paidNanoUsd} paid`);
  assert.equal(await books.balanceOf('ann'), paidNanoUsd - ann);
  for (const keyId of Object.keys(keyLimits)) assert.ok((spent.get(`user:total:${ownerOf(keyId)}`) ?? 0n) > 0n, `${keyId} was used`);
}

const hourSeconds = 3600;

/**
 * M15: the statistics of every hour are the sums of the rows accepted in it, however late they were booked. The names
 * of keys are their ids.
 */
async function checkStatistics(books: BooksAtRest): Promise<void> {
  const hourOf = ({ acceptedAtMs }: Pick<BookedRow, 'acceptedAtMs'>): number => Math.floor(acceptedAtMs / 1000 / hourSeconds) * hourSeconds;
  const sums = new Map<string, bigint>();
  let [first, last] = [Infinity, 0];
  for (const row of books.rows.values()) {
    const hour = hourOf(row);
    first = Math.min(first, hour);
    last = Math.max(last, hour + hourSeconds);
    const key = `${hour} ${row.keyId}`;
    sums.set(key, (sums.get(key) ?? 0n) + row.amountNanoUsd);
  }
  const buckets = Array.from({ length: (last - first) / hourSeconds }, (_, at) => {
    const startSeconds = first + at * hourSeconds;
    return { startSeconds, endSeconds: startSeconds + hourSeconds };
  });
  const answer = await books.statistics.queryStatistics({ startSeconds: first, endSeconds: last, buckets, rowsMax: 1_000_000 });
  const found = new Map<string, bigint>();
  for (const row of answer) {
    const key = `${row.bucketStartSeconds} ${row.tokenName}`;
    found.set(key, (found.get(key) ?? 0n) + row.amountNanoUsd);
  }
  for (const [key, sum] of sums) assert.equal(found.get(key) ?? 0n, sum, `statistics of ${key}`);
}
