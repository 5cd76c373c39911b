// How long a workbook of a million records takes and how much memory: `node bench/workbook.ts [records]`.
import { encodeBillingRecords } from '../src/billing/statistics/billing-record.ts';
import type { StatisticsRow } from '../src/billing/statistics/statistics-store.ts';
import type { BilledCallRecord } from '../src/billing/statistics/billed-call-record.ts';
import { exactNumber } from '../src/billing/statistics/exact-number.ts';
import { createWorkbookStream } from '../src/monitor/workbook/workbook-stream.ts';

const count = Number(process.argv[2] ?? 1_000_000);

function createRows(): StatisticsRow[] {
  return Array.from({ length: count }, (_, index) => ({
    bucketStartSeconds: 1_769_443_200 + 60 * Math.floor(index / 600),
    userName: `user-${index % 100}`,
    tokenName: `key-${index % 2}`,
    modelName: `model-${index % 20}-2025-01-01`,
    promptTokens: 800 + index,
    completionTokens: 200 + index,
    cacheTokens: 300,
    cacheCreationTokens: 20,
    useTimeMs: 1500 + index,
    callCount: 1 + (index % 7),
    amountNanoUsd: BigInt(1_234_567 + index),
  }));
}

async function* createCalls(): AsyncGenerator<BilledCallRecord> {
  for (let index = 0; index < count; index += 1) {
    yield {
      requestId: `req_${String(index).padStart(26, '0')}`,
      time: '2026-01-27 00:00:00',
      timeMs: 1_769_443_200_000 + index,
      userName: `user-${index % 100}`,
      tokenName: `key-${index % 2}`,
      modelName: `model-${index % 20}-2025-01-01`,
      promptTokens: 800 + index,
      completionTokens: 200,
      cacheTokens: 300,
      cacheCreationTokens: 20,
      useTimeMs: 1500,
      callCount: 1,
      amount: exactNumber('0.001234567'),
      estimated: false,
      end: 'finished',
      priceVersion: '2026-01-01',
    };
  }
}

async function measure(name: string, rows: readonly StatisticsRow[], calls: AsyncIterable<BilledCallRecord> | undefined): Promise<void> {
  const before = process.memoryUsage.rss();
  const [startedMs, cpu] = [performance.now(), process.cpuUsage()];
  let [most, bytes] = [before, 0];
  const options = { modifiedAtMs: startedMs, ...(calls === undefined ? {} : { calls }) };
  for await (const piece of createWorkbookStream(encodeBillingRecords(rows, 'UTC'), options)) {
    bytes += (piece as Buffer).length;
    most = Math.max(most, process.memoryUsage.rss());
  }
  const used = process.cpuUsage(cpu);
  const mb = (size: number): string => `${(size / 1e6).toFixed(0)} MB`;
  console.log(
    `${name}: ${((performance.now() - startedMs) / 1000).toFixed(1)} s (${((used.user + used.system) / 1e6).toFixed(1)} s of processor), ${mb(bytes)}, ${mb(most - before)} more memory than before`,
  );
}

await measure(`${count} calls`, [], createCalls());
await measure(`${count} records`, createRows(), undefined);
