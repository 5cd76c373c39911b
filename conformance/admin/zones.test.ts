import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { readSpan } from '../../console/src/components/span.ts';
import { instantIn, showDay } from '../../console/src/format/times.ts';
import { entry } from '../../src/billing/journal/testing/call-kit.ts';
import { openStore, type ServedConsole, serveConsole } from '../console/serve-console.ts';
import { eventually } from '../support/http.ts';
import { type ConsoleClient, signInByLink } from './console-client.ts';

type Money = { readonly nano_usd: string };
type Sums = { readonly amount: Money; readonly calls: number };
type Booked = { readonly id: string; readonly atMs: number; readonly amount: bigint };

/** Zones and a day on which their clocks change, and one that is three quarters of an hour off. */
const zones = [
  ['Europe/Berlin', '2026-03-29'],
  ['America/New_York', '2025-11-02'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['America/Santiago', '2026-04-05'],
  ['Asia/Kathmandu', '2026-01-15'],
] as const;
const hourMs = 3_600_000;
/** More digits than a double has. */
const amountOf = (index: number): bigint => 12_345_678_901_234_567n + BigInt(index) * 1_000_000_007n;

const sumOf = (calls: readonly { readonly amount: bigint }[]): string => String(calls.reduce((sum, { amount }) => sum + amount, 0n));

/** The bounds of the days around a day, by the calendar of the language, and not by Weir's. */
function boundsAround(zone: string, day: string): readonly number[] {
  const date = Temporal.PlainDate.from(day);
  return [-1, 0, 1, 2].map((days) => date.add({ days }).toZonedDateTime(zone).epochMilliseconds);
}

describe('days of zones whose clocks change, and of one that is 05:45 ahead', () => {
  let weir: ServedConsole;
  let operator: ConsoleClient;
  const booked = new Map<string, readonly Booked[]>();
  before(async () => {
    weir = await serveConsole();
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    const store = await openStore(weir);
    for (const [at, [zone, day]] of zones.entries()) {
      const bounds = boundsAround(zone, day);
      // Before and after each bound, and in each hour of the days.
      const times = new Set(bounds.flatMap((bound) => [bound - 1, bound, bound + 1]));
      for (let ms = bounds[0] ?? 0; ms < (bounds.at(-1) ?? 0); ms += hourMs) times.add(ms + 1_234_567);
      const calls = [...times].map((atMs, index) => ({
        id: `req_0zone${at}x${String(index).padStart(3, '0')}`,
        atMs,
        amount: amountOf(index),
      }));
      booked.set(zone, calls);
      await store.appendEntries(
        calls.map(({ id, atMs, amount }) => ({
          ...entry(id),
          acceptedAtMs: atMs,
          userName: zone,
          charge: { amountNanoUsd: amount, lines: [] },
        })),
      );
    }
    await store.close();
    const count = [...booked.values()].flat().length;
    await eventually(
      () => operator.send('GET', '/api/v1/calls/export?format=jsonl'),
      ({ text }) => text.trim().split('\n').length === count,
      60_000,
    );
  });
  after(() => weir[Symbol.asyncDispose]());

  test('bounds, buckets, exports and links have the same calls in every zone, and each amount to the last digit', async () => {
    for (const [zone, day] of zones) await compare(zone, day);
  });

  async function compare(zone: string, day: string): Promise<void> {
    const calls = booked.get(zone) ?? [];
    const bounds = boundsAround(zone, day);
    const [start = 0, end = 0] = [bounds[0], bounds.at(-1)];
    const inSpan = calls.filter(({ atMs }) => atMs >= start && atMs < end);
    assert.ok(inSpan.length < calls.length);
    // A page takes its days from the console's own calendar.
    assert.deepEqual(
      bounds.map((bound) => instantIn(showDay(bound, zone), zone)),
      bounds,
    );
    const question = {
      from: new Date(start).toISOString(),
      to: new Date(end).toISOString(),
      time_zone: zone,
      granularity: 'day',
      group_by: ['user'],
      filters: { user: [zone] },
    };
    const answer = await operator.send('POST', '/api/v1/usage/query', question);
    assert.equal(answer.status, 200, answer.text);
    const { bucket_starts, totals, time_zone } = answer.body as unknown as {
      bucket_starts: string[];
      totals: { total: Sums; buckets: Sums[] };
      time_zone: string;
    };
    assert.equal(time_zone, zone);
    assert.deepEqual(
      bucket_starts.map((text) => Date.parse(text)),
      bounds.slice(0, -1),
    );
    assert.deepEqual([totals.total.amount.nano_usd, totals.total.calls], [sumOf(inSpan), inSpan.length]);
    const exported = await operator.send('POST', '/api/v1/usage/export', { question, format: 'jsonl' });
    const rows = exported.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { bucket: string; amount_nano_usd: string; calls: number });
    for (const [position, from] of bounds.slice(0, -1).entries()) {
      const until = bounds[position + 1] ?? 0;
      const own = calls.filter(({ atMs }) => atMs >= from && atMs < until);
      const { amount, calls: counted } = totals.buckets[position] ?? assert.fail('no bucket');
      assert.deepEqual([amount.nano_usd, counted], [sumOf(own), own.length], `${zone} bucket ${position}`);
      const row = rows[position] ?? assert.fail('no row');
      assert.deepEqual([row.amount_nano_usd, row.calls], [sumOf(own), own.length], `${zone} row ${position} of the export`);
      // A bar of the chart leads to its calls by this address.
      const link = readSpan({ from: new Date(from).toISOString(), to: new Date(until).toISOString() }, zone, Date.now(), '24h');
      const query = new URLSearchParams({ from: link.from, to: link.to, user: zone });
      const listed = await operator.send('GET', `/api/v1/calls?${query.toString()}&limit=500`);
      const items = listed.body['items'] as { id: string; amount: Money }[];
      assert.deepEqual(
        new Map(items.map(({ id, amount: each }) => [id, each.nano_usd])),
        new Map(own.map(({ id, amount: each }) => [id, String(each)])),
        `${zone}: calls of bucket ${position}`,
      );
      const csv = (await operator.send('GET', `/api/v1/calls/export?${query.toString()}&format=jsonl`)).text.trim().split('\n');
      const amounts = csv.map((line) => ({ amount: BigInt((JSON.parse(line) as { amount_nano_usd: string }).amount_nano_usd) }));
      assert.deepEqual([amounts.length, sumOf(amounts)], [own.length, sumOf(own)], `${zone}: calls of the export of bucket ${position}`);
    }
    const [first] = inSpan;
    const receipt = await operator.send('GET', `/api/v1/calls/${first?.id ?? ''}/receipt`);
    assert.equal((receipt.body['total'] as Money).nano_usd, String(first?.amount));
  }
});
