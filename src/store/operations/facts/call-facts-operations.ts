import type { CallFactsStore, CallTransaction } from '../../../billing/calls/call-facts-store.ts';
import type { UsageDays, UsageStore } from '../../../billing/usage/usage-store.ts';
import { toStorableText } from '../../storable-text.ts';
import type { Database } from '../database.ts';
import { inParts, perRows } from '../in-parts.ts';
import { readInteger, readText } from '../read-column.ts';
import { CallPacker } from '../usage/call-packs/pack-calls.ts';
import { callPacks } from '../usage/call-packs/take-call-packs.ts';
import { KeptPacks } from '../usage/kept-packs.ts';
import { packUsageDay } from '../usage/pack-days.ts';
import { usagePacks } from '../usage/packed-usage.ts';
import { readUsage } from '../usage/read-usage.ts';
import { readWide } from '../wide-amount.ts';
import { EntryFacts } from './entry-facts.ts';
import { FactNames } from './fact-names.ts';
import { followCalls, type FollowerMemory, readFollowProgress } from './follow-calls.ts';
import { NameReader } from './name-reader.ts';
import { countCallsByTime, scanCalls } from './scan-calls.ts';

/** What the writers of facts remember. */
export function createFollowerMemory(): FollowerMemory {
  return { names: new FactNames(), entries: new EntryFacts() };
}

/** The SQL of lists and counts of calls. */
export function createCallFactsOperations(
  database: Database,
  memory: FollowerMemory = createFollowerMemory(),
): CallFactsStore & UsageStore & UsageDays {
  const names = new NameReader();
  const packs = { usage: new KeptPacks(usagePacks), calls: new KeptPacks(callPacks) };
  const packer = new CallPacker();
  return {
    followCalls: (limit, nowMs) => followCalls(database, memory, limit, nowMs),
    followProgress: () => readFollowProgress(database),
    scanCalls: (scan) => scanCalls(database, names, scan),
    countCallsByTime: (count) => countCallsByTime(database, names, count),
    readUsage: (read) => readUsage(database, { names, packs }, read),
    packUsageDay: (nowMs) => packUsageDay(database, nowMs),
    packCalls: (nowMs) => packer.step(database, nowMs),
    listCallTransactions: (rowIds) => listCallTransactions(database, rowIds),
  };
}

const rowsAtOnce = [64, 16, 4, 1];
const selectTransactions = perRows(
  (rows) => `select distinct t.transaction_id, t.posted_at_ms, t.amount_kusd, t.amount_nano from calls
      join ledger_transactions t on t.transaction_id = calls.transaction_id
    where calls.call_id in (${Array.from({ length: rows }, () => '?').join(', ')}) order by t.transaction_id`,
);

async function listCallTransactions(database: Database, rowIds: readonly string[]): Promise<readonly CallTransaction[]> {
  const found = new Map<string, CallTransaction>();
  for (const part of inParts(rowIds.map(toStorableText), rowsAtOnce)) {
    for (const row of await database.all(selectTransactions(part.length), ...part)) {
      const transactionId = readText(row, 'transaction_id');
      found.set(transactionId, { transactionId, postedAtMs: readInteger(row, 'posted_at_ms'), amountNanoUsd: readWide(row, 'amount') });
    }
  }
  return [...found.values()];
}
