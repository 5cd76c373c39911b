import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { verifyStart } from '../../src/billing/credits/credit-books.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { eventually } from '../support/http.ts';
import { startSimulatedProgram } from '../support/start-simulated-weir.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';

const paidNanoUsd = 20_000_000n;

/** The status of each of many simultaneous calls; 0 for one that the end of the process has cut. */
async function callOften(weir: RunningWeir, count: number, steer: Readonly<Record<string, string>> = {}): Promise<readonly number[]> {
  const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 60, messages: [{ role: 'user', content: 'hi' }] });
  const headers = { 'x-api-key': weir.apiKey, 'anthropic-version': '2023-06-01', 'content-type': 'application/json', ...steer };
  const call = async (): Promise<number> => {
    try {
      const reply = await fetch(`${weir.gatewayUrl}/v1/messages`, { method: 'POST', headers, body, signal: AbortSignal.timeout(60_000) });
      await reply.arrayBuffer();
      return reply.status;
    } catch {
      return 0;
    }
  };
  return await Promise.all(Array.from({ length: count }, call));
}

async function findProblems(store: Store): Promise<readonly string[]> {
  const found: string[] = [];
  for (let cursor = verifyStart; ;) {
    const { problems, next } = await store.verifyBooks({ cursor, limit: 1000 });
    found.push(...problems.map(({ what }) => what));
    if (next === undefined) return found;
    cursor = next;
  }
}

test('F9, F59, M6, M7: simultaneous calls and a kill -9 never overdraw a prepaid balance, and at rest nothing is held or leased', async () => {
  await using simulated = await startSimulatedProgram();
  const { dataDirectory } = simulated.weir;
  const store = await openSqliteStore({ path: join(dataDirectory, 'weir.sqlite') });
  const [key] = await store.listApiKeys();
  assert.ok(key);
  await store.changeUserLimits(key.userName, { prepaid: true }, changeAt());
  // The gateway reads keys once a second.
  let served = 0;
  await eventually(
    async () => {
      const [status] = await callOften(simulated.weir, 1);
      if (status === 200) served += 1;
      return status;
    },
    (status) => status === 402,
  );
  // A served call is owed as soon as it is booked.
  await eventually(
    () => store.listEntries({ limit: 10_000 }),
    ({ length }) => length >= served,
  );
  const owner = { level: 'user', userName: key.userName } as const;
  const [free] = await store.readBalances({ owner, limit: 1 });
  const payment = { transactionId: 'top_up:1', kind: 'top_up', against: 'deposits', actor: 'test', postedAtMs: 1 } as const;
  // Calls from before the prepaid balance are owed, and this top-up pays them.
  await store.postTransaction({ ...payment, owner, amountNanoUsd: paidNanoUsd - (free?.balanceNanoUsd ?? 0n) }, changeAt());
  const cut = callOften(simulated.weir, 20);
  await simulated.weir.stop('SIGKILL');
  const before = await cut;
  await using again = await startWeir({ dataDirectory, environment: { WEIR_CONFIG: join(dataDirectory, 'weir.yaml') } });
  // Together they cost more than the balance, also if the gateway admits them one after the other.
  const after = await callOften({ ...again, apiKey: simulated.weir.apiKey }, 60, { 'x-simulator-output-tokens': '60' });
  assert.ok(after.includes(402), `not all are admitted: ${after.join()}`);
  assert.ok(
    // If the machine stalls for seconds, so do the books, and calls get a 503 with retry-after.
    [...before, ...after].every((status) => [0, 200, 402, 503].includes(status)),
    [...before, ...after].join(),
  );
  assert.ok(after.includes(200), after.join());
  await again.stop('SIGTERM');
  const [account] = await store.readBalances({ owner, limit: 1 });
  assert.ok(account !== undefined && account.balanceNanoUsd >= 0n && account.balanceNanoUsd < paidNanoUsd, String(account?.balanceNanoUsd));
  assert.deepEqual(await store.listLeases(), []);
  assert.deepEqual(await findProblems(store), []);
  await store.close();
});
