import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { createAccounts } from '../../src/accounts/create-accounts.ts';
import { testAuthor } from '../../src/audit/testing/test-change.ts';
import { allPots } from '../../src/billing/credits/pots.ts';
import { usdDecimal } from '../../src/billing/statistics/usd-decimal.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { startShared, useSharedParts } from '../postgres/shared-weir.ts';
import { verifyAll } from '../store/credit-suite.ts';
import { eventually } from '../support/http.ts';
import { readLedger } from '../support/read-ledger.ts';
import { skipPostgres } from '../support/start-postgres.ts';
import { startSimulatedProgram } from '../support/start-simulated-weir.ts';
import type { RunningWeir } from '../support/start-weir.ts';
import { workerPids } from '../support/worker-pids.ts';

const settledMs = 30_000;
const crowd = 1000;
/** The calls whose highest cost the limit of the team covers at a time. */
const covered = 120n;

/** Three gateway processes on one database. */
type Fleet = {
  readonly store: Store;
  readonly urls: () => readonly string[];
  /** Kills a process, waits until another has its place, and returns. */
  readonly replaceOne: () => Promise<void>;
};

type Reply = { readonly status: number; readonly message: string };

async function send(url: string, secret: string, steer: Readonly<Record<string, string>> = {}): Promise<Reply> {
  const headers = { 'x-api-key': secret, 'anthropic-version': '2023-06-01', 'content-type': 'application/json', ...steer };
  const body = JSON.stringify({ model: 'claude-haiku-4-5', max_tokens: 60, messages: [{ role: 'user', content: 'hi' }] });
  try {
    const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body, signal: AbortSignal.timeout(settledMs) });
    const text = await response.text();
    return { status: response.status, message: response.status === 200 ? '' : text };
  } catch (error) {
    return { status: 0, message: String(error) };
  }
}

/** A team of two users, one with a small limit of its own, in an organization with a limit that nothing reaches. */
async function createTeam(store: Store) {
  const accounts = createAccounts({ store, clock: systemClock, random: randomBytes, author: testAuthor });
  const [first, second] = [
    await accounts.createApiKey({ userName: 'ann', name: 'ci' }),
    await accounts.createApiKey({ userName: 'bob', name: 'ci' }),
  ];
  const team = await accounts.createTeam({ name: 'research' });
  for (const user of ['ann', 'bob']) await accounts.setUserTeam(user, 'research');
  await accounts.changeOrganizationLimits({ spendPerMonth: '1000' });
  return { accounts, team, keys: [first.secret, second.secret] };
}

async function overspendNothing({ store, urls, replaceOne }: Fleet): Promise<void> {
  const { accounts, team, keys } = await createTeam(store);
  const [ann = '', bob = ''] = keys;
  const ledger = readLedger(store);
  const urlOf = (number: number): string => urls()[number % urls().length] ?? '';
  const rows = async () => (await ledger.all()).filter((entry) => entry.team?.id === team.id);
  const spent = async () => (await rows()).reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n);
  let made = 0;
  const sendCounted = async (...call: Parameters<typeof send>): ReturnType<typeof send> => {
    const reply = await send(...call);
    if (reply.status === 200) made += 1;
    return reply;
  };
  // Keys and limits are known everywhere after a second. The first row with a hold has the highest cost of a call.
  for (let number = 0; number < 3; number += 1)
    await eventually(
      () => sendCounted(urlOf(number), ann),
      ({ status }) => status === 200,
    );
  const row = await eventually(
    async () => {
      await sendCounted(urlOf(0), ann);
      return (await rows()).find(({ heldPots }) => heldPots !== undefined);
    },
    (found) => found !== undefined,
  );
  const highest = BigInt(row?.heldNanoUsd ?? '0');
  assert.ok(highest > 0n, 'the organization has a limit, so each call is held');

  // A team without money admits nothing. When calls on many connections are refused, every process knows the limit.
  await accounts.changeTeam('research', { limits: { spendTotal: '0' } });
  await eventually(
    () => Promise.all(Array.from({ length: 24 }, (_, number) => sendCounted(urlOf(number), number % 2 === 0 ? ann : bob))),
    (replies) => replies.every(({ status }) => status === 429),
  );
  await eventually(rows, ({ length }) => length === made);
  const before = await spent();
  const limit = before + covered * highest;
  await accounts.changeUserLimits('bob', { spendPerMonth: usdDecimal(20n * highest) });
  await accounts.changeTeam('research', { limits: { spendTotal: usdDecimal(limit) } });
  for (const secret of keys)
    await eventually(
      () => send(urlOf(0), secret),
      ({ status }) => status === 200,
    );

  const replies = await Promise.all(Array.from({ length: crowd }, (_, number) => send(urlOf(number), number % 4 === 0 ? bob : ann)));
  // If the machine stalls for seconds, so do the books, and calls get a 503 with the advice to retry.
  const odd = replies.filter(({ status, message }) => ![200, 429].includes(status) && !message.includes('credits_unavailable'));
  assert.deepEqual(odd, []);
  const admitted = replies.filter(({ status }) => status === 200).length;
  assert.ok(admitted > 0 && admitted < crowd, `${admitted} of ${crowd} calls were admitted`);
  const refusals = replies.filter(({ status }) => status === 429).map(({ message }) => message);
  assert.ok(
    refusals.some((message) => message.includes(`Spend limit reached for this team (research): $${usdDecimal(limit)} altogether`)),
    refusals.join('\n').slice(0, 2000),
  );
  await eventually(rows, ({ length }) => length >= admitted + 5);
  assert.ok((await spent()) <= limit, `${await spent()} of ${limit}`);

  // A process dies with leases and running calls. The part of its leases that is not spent can be spent by others.
  const more = (await spent()) + 40n * highest;
  await accounts.changeTeam('research', { limits: { spendTotal: usdDecimal(more) } });
  await eventually(
    () => send(urlOf(1), ann),
    ({ status }) => status === 200,
  );
  const slow = { 'x-simulator-output-tokens': '60', 'x-simulator-pace': 'tokensPerSecond=60' };
  const cut = Promise.all(Array.from({ length: 30 }, (_, number) => send(urlOf(number), ann, slow)));
  await eventually(
    async () => (await store.listLeases()).filter(({ potId, leasedNanoUsd }) => potId.startsWith('team:') && leasedNanoUsd > 0n).length,
    (count) => count > 0,
  );
  await replaceOne();
  await cut;
  const left = async (): Promise<bigint> => more - (await spent());
  await eventually(
    async () => {
      await Promise.all(Array.from({ length: 12 }, (_, number) => send(urlOf(number), ann)));
      return await left();
    },
    (rest) => rest < highest,
    settledMs,
  );
  assert.ok((await left()) >= 0n, `${await left()} is left of ${more}`);

  // The sums of all levels are those of the rows.
  const own = await rows();
  const pots = allPots({ userName: 'ann', keyId: row?.keyId ?? '', teamId: team.id, acceptedAtMs: Date.now() });
  const report = (await store.readPots(pots)).find(({ pot }) => pot.id === `team:total:${team.id}`);
  assert.equal(
    report?.spentNanoUsd,
    own.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n),
  );
  assert.deepEqual(await verifyAll(store), []);
}

test('M6, F1, F2: overshoot 0: a thousand simultaneous calls over 3 workers on SQLite spend no more than the limit of their team, and a killed worker gives its lease back', async () => {
  await using simulated = await startSimulatedProgram({ weir: { command: 'gateway', commandArguments: ['--workers', '3'] } });
  const { weir } = simulated;
  const store = await openSqliteStore({ path: join(weir.dataDirectory, 'weir.sqlite') });
  const pids = () => workerPids(weir.process.pid ?? 0);
  try {
    await overspendNothing({
      store,
      urls: () => [weir.gatewayUrl],
      replaceOne: async () => {
        const [victim = 0] = pids();
        process.kill(victim, 'SIGKILL');
        await eventually(pids, (live) => live.length === 3 && !live.includes(victim), settledMs);
      },
    });
  } finally {
    await store.close();
  }
});

describe('on PostgreSQL', { skip: skipPostgres }, () => {
  const parts = useSharedParts(['fsync=off']);

  test('M6, F1, F2: overshoot 0: a thousand simultaneous calls over 3 gateways spend no more than the limit of their team, and a killed gateway gives its lease back', async () => {
    const store = await openPostgresStore({ url: parts().server.url() });
    const gateways: RunningWeir[] = await Promise.all([1, 2, 3].map(() => startShared(parts(), { command: 'gateway' })));
    await using ends = new AsyncDisposableStack();
    ends.defer(() => store.close());
    for (const gateway of gateways) ends.use(gateway);
    await overspendNothing({
      store,
      urls: () => gateways.map(({ gatewayUrl }) => gatewayUrl),
      replaceOne: async () => {
        const [victim] = gateways;
        assert.ok(victim !== undefined);
        await victim.stop('SIGKILL');
        gateways[0] = ends.use(await startShared(parts(), { command: 'gateway', dataDirectory: victim.dataDirectory }));
      },
    });
  });
});
