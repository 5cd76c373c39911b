import assert from 'node:assert/strict';
import { test } from 'node:test';

import { encodeBillingRecords } from '../../src/billing/statistics/billing-record.ts';
import { fakeRow } from '../../src/billing/statistics/fake-row.ts';
import { createWorkbookStream } from '../../src/monitor/workbook/workbook-stream.ts';
import { measureBest } from '../support/measure-best.ts';

// Five to ten times what was measured (0.7 s, 25 MB), so that a loaded machine does not fail and a mistake does.
const cpuMsMax = 6000;
const moreBytesMax = 200_000_000;

const rows = Array.from({ length: 100_000 }, (_, index) =>
  fakeRow({ bucketStartSeconds: 1_769_443_200 + 60 * Math.floor(index / 50), callCount: index + 1 }),
);

/** What it takes to write all of them, and how long the workbook is. */
async function writeAll() {
  const before = process.cpuUsage();
  const rssBefore = process.memoryUsage.rss();
  let rssMax = 0;
  let bytes = 0;
  for await (const piece of createWorkbookStream(encodeBillingRecords(rows, 'UTC'), { modifiedAtMs: Date.UTC(2026, 0, 29) })) {
    bytes += (piece as Buffer).length;
    rssMax = Math.max(rssMax, process.memoryUsage.rss());
  }
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, moreBytes: rssMax - rssBefore, bytes };
}

test('a hundred thousand records take a second or so and little memory', async (context) => {
  const isGood = ({ cpuMs, moreBytes }: Awaited<ReturnType<typeof writeAll>>): boolean => cpuMs < cpuMsMax && moreBytes < moreBytesMax;
  const best = await measureBest(writeAll, isGood, (worse) => context.diagnostic(JSON.stringify(worse)));
  assert.ok(isGood(best), `${best.cpuMs} CPU ms, ${best.moreBytes / 1e6} MB more`);
  assert.ok(best.bytes < 12_000_000, `${best.bytes} bytes`);
});
