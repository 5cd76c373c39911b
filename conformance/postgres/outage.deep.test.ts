import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { createPublishedBook } from '../../src/billing/price-books/published-book.ts';
import { bookOf, plainEntry } from '../../src/billing/rating/testing/price-book-kit.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { makeCall, modeOf } from '../books/load.ts';
import { auditBooks, type ClientView, compareStatistics } from '../support/audit.ts';
import { call, eventually, post } from '../support/http.ts';
import { skipPostgres } from '../support/start-postgres.ts';
import type { RunningWeir } from '../support/start-weir.ts';
import { openSharedLedger, startShared, useSharedParts } from './shared-weir.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';

/** Calls that continue until they are stopped, a few at a time. */
function startLoad(weir: RunningWeir, firstNumber: number) {
  const views: ClientView[] = [];
  let number = firstNumber;
  let ended = false;
  const lane = async (): Promise<void> => {
    while (!ended) {
      number += 1;
      views.push(await makeCall(weir.gatewayUrl, weir.apiKey, { ...modeOf(number), number }));
      await delay(20);
    }
  };
  const lanes = Promise.all([lane(), lane(), lane()]);
  return {
    count: () => views.length,
    end: async (): Promise<readonly ClientView[]> => {
      ended = true;
      await lanes;
      return views;
    },
  };
}

const unknownKey = { authorization: 'Bearer sk-somebody-elses-key-0123456789' };
const chat = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] };

/** Prices for all gateways, as `weir prices publish` adds them. */
async function publishBook(url: string): Promise<void> {
  const about = { number: 1, label: 'ours', scope: 'override', effectiveFrom: '2026-01-01', publishedAtMs: 0, actor: 'ann' } as const;
  const store = await openPostgresStore({ url });
  assert.ok(await store.insertPriceBook(createPublishedBook(bookOf(plainEntry()), about), changeAt()));
  await store.close();
}

/** The guarantees while the store is down. */
async function checkOutage(weir: RunningWeir, load: ReturnType<typeof startLoad>): Promise<void> {
  const before = load.count();
  await eventually(load.count, (count) => count > before + 20, 60_000);
  const unknown = await eventually(
    () => post(`${weir.gatewayUrl}/v1/chat/completions`, chat, unknownKey),
    ({ status }) => status === 503,
    60_000,
  );
  assert.equal(unknown.status, 503, unknown.text);
  assert.equal((await call(`${weir.gatewayUrl}/health/ready`)).status, 200);
}

describe('PostgreSQL is down for a while under load', { skip: skipPostgres }, () => {
  const parts = useSharedParts();

  test('crashed or silent database: calls of known keys continue, unknown keys get 503, readiness stays, and afterwards nothing is missing', async () => {
    await using weir = await startShared(parts(), {
      command: 'gateway',
      database: { connectMs: 500, statementMs: 1000 },
      environment: { WEIR_LOG_LEVEL: 'silent' },
    });
    await using monitor = await startShared(parts(), { command: 'monitor' });
    const { server, simulator } = parts();
    const load = startLoad(weir, 0);
    await eventually(load.count, (count) => count > 10, 60_000);

    server.signal('SIGKILL');
    await checkOutage(weir, load);
    await server.restart();

    const between = load.count();
    await eventually(load.count, (count) => count > between + 10, 60_000);

    server.signal('SIGSTOP');
    await checkOutage(weir, load);
    server.signal('SIGCONT');

    const clients = await load.end();
    assert.deepEqual(
      clients.filter(({ complete }) => !complete).map(({ tag, status }) => [tag, status]),
      [],
      'no call of a known key failed',
    );
    const ledger = await openSharedLedger(parts());
    const entries = await eventually(ledger.all, (rows) => rows.length >= clients.length, 60_000);
    await ledger.close();
    const truths = simulator.records().filter(({ tag }) => tag !== undefined);
    assert.deepEqual(auditBooks({ entries, truths, clients, lostTokensMax: 0 }).problems, []);
    assert.equal(entries.length, clients.length);
    // The monitor may still hold a connection that was lost with the server.
    await eventually(
      () => compareStatistics(monitor.monitorUrl, monitor.billingToken, entries),
      ({ length }) => length === 0,
    );
    const answered = await eventually(
      () => post(`${weir.gatewayUrl}/v1/chat/completions`, chat, unknownKey),
      ({ status }) => status !== 503,
      60_000,
    );
    assert.equal(answered.status, 401, 'unknown keys get the normal answer again');
  });

  test('R1: a gateway that starts while PostgreSQL is down knows its keys and prices, and its bookings arrive later', async () => {
    const { server } = parts();
    const options = { command: 'gateway', database: { connectMs: 500 }, environment: { WEIR_LOG_LEVEL: 'silent' } } as const;
    await using first = await startShared(parts(), options);
    await eventually(
      () => existsSync(join(first.dataDirectory, 'keys.sealed')),
      (isThere) => isThere,
    );
    const kept = readFileSync(join(first.dataDirectory, 'keys.sealed'));
    for (const clear of [first.apiKey, 'admin', 'pepper']) assert.equal(kept.includes(clear), false, `${clear} is not encrypted`);
    await publishBook(server.url());
    await eventually(
      () => existsSync(join(first.dataDirectory, 'prices.published.json')),
      (isThere) => isThere,
      60_000,
    );
    await first.stop();

    server.signal('SIGKILL');
    await using again = await startShared(parts(), { ...options, dataDirectory: first.dataDirectory });
    const view = await makeCall(again.gatewayUrl, again.apiKey, { ...modeOf(5000), number: 5000 });
    assert.ok(view.complete, view.text);
    assert.equal((await post(`${again.gatewayUrl}/v1/chat/completions`, chat, unknownKey)).status, 503);
    assert.equal((await call(`${again.gatewayUrl}/health/ready`)).status, 200);

    await server.restart();
    const ledger = await openSharedLedger(parts());
    const row = await ledger.row(view.callId ?? '', 60_000);
    await ledger.close();
    assert.equal(row.end, 'finished');
    assert.match(row.priceVersion, /\+store-1\+/, 'priced as before, with the published prices');
    await eventually(
      () => post(`${again.gatewayUrl}/v1/chat/completions`, chat, unknownKey),
      ({ status }) => status === 401,
      60_000,
    );
  });
});
