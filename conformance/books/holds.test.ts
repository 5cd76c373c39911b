import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { type Accounts, createAccounts } from '../../src/accounts/create-accounts.ts';
import type { AccessLimitsChange } from '../../src/accounts/access-limits.ts';
import { verifyStart } from '../../src/billing/credits/credit-books.ts';
import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { usdDecimal } from '../../src/billing/statistics/usd-decimal.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { readExposition, sumSamples } from '../../src/platform/metrics/testing/read-exposition.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { readLedger } from '../support/read-ledger.ts';
import { call, eventually, post } from '../support/http.ts';
import { usualOrLong } from '../support/scale.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';
import {
  type ErrorFamily,
  freeRoutes,
  callFreeRoute,
  type PaidRoute,
  type RouteReply,
  paidRoutes,
  paidRouteSetup,
  type RouteCaller,
} from './paid-routes.ts';
import { testAuthor } from '../../src/audit/testing/test-change.ts';

type Refusal = 'spent' | 'empty' | 'unavailable';

/** Status, type and machine code of each refusal. */
const refusals: Readonly<Record<ErrorFamily, Readonly<Record<Refusal, string>>>> = {
  messages: {
    spent: '429 rate_limit_error spend_limit_reached',
    empty: '402 billing_error insufficient_credit',
    unavailable: '503 overloaded_error credits_unavailable',
  },
  openai: {
    spent: '429 insufficient_quota insufficient_quota',
    empty: '402 insufficient_quota insufficient_quota',
    unavailable: '503 server_error credits_unavailable',
  },
  'generate-content': { spent: '429 RESOURCE_EXHAUSTED 429', empty: '403 PERMISSION_DENIED 403', unavailable: '503 UNAVAILABLE 503' },
  'xai-videos': { spent: '429 insufficient_quota', empty: '402 insufficient_quota', unavailable: '503 credits_unavailable' },
  // These have only a message.
  cohere: { spent: '429 message', empty: '402 message', unavailable: '503 message' },
  jina: { spent: '429 detail', empty: '402 detail', unavailable: '503 detail' },
};

function describeRefusal({ status, json }: RouteReply): string {
  const body: unknown = Array.isArray(json) ? json[0] : json;
  const { error, code } = body as { readonly error: unknown; readonly code?: unknown };
  if (error === undefined) return `${status} ${Object.keys(body as object).find((name) => name !== 'id') ?? ''}`;
  // xAI sends a code beside a text.
  if (typeof error === 'string') return `${status} ${String(code)}`;
  const told = error as { readonly type?: unknown; readonly status?: unknown; readonly code?: unknown };
  return `${status} ${String(told.type ?? told.status)} ${String(told.code)}`;
}

/** Simultaneous calls. */
const crowd = usualOrLong(20, 50);

/** A key's name without its punctuation. */
const nameOf = ({ name }: Pick<PaidRoute, 'name'>): string => name.replaceAll(/[^a-zA-Z0-9]+/g, ' ');

const sumOf = (rows: readonly CallEntry[]): bigint => rows.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n);

describe('the limit of a key, on every paid route', () => {
  let running: SimulatedWeir;
  let store: Awaited<ReturnType<typeof openSqliteStore>>;
  let accounts: Accounts;
  let video: string;
  let rich: string;
  before(async () => {
    running = await startSimulatedGateway({
      runsTools: true,
      toolPrices: { webSearch: '0.01' },
      simulator: { video: 'ms=50' },
      ...paidRouteSetup,
      config: { credits: { outputTokensDefault: 64 }, ...paidRouteSetup.config },
      weir: { environment: { WEIR_METRICS_PORT: '0' } },
    });
    store = await openSqliteStore({ path: join(running.weir.dataDirectory, 'weir.sqlite') });
    accounts = createAccounts({ store, clock: systemClock, random: randomBytes, author: testAuthor });
    rich = await createKey('caller', 'rich', { spendTotal: '1000' });
    await untilKnown(rich);
    const created = await post(
      `${base()}/v1/video/generations`,
      { model: 'grok-imagine-video', prompt: 'a kite', duration: 2 },
      bearer(rich),
    );
    video = created.json.id;
    await eventually(
      () => call(`${base()}/v1/videos/${video}`, { headers: bearer(rich) }),
      ({ json }) => json.status === 'completed',
      60_000,
    );
  });
  after(async () => {
    await store.close();
    await running[Symbol.asyncDispose]();
  });

  const base = (): string => running.weir.gatewayUrl;
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const createKey = async (userName: string, name: string, limits: AccessLimitsChange): Promise<string> =>
    (await accounts.createApiKey({ userName, name, limits })).secret;
  const untilKnown = (key: string) =>
    eventually(
      () => call(`${base()}/v1/models`, { headers: bearer(key) }),
      ({ status }) => status === 200,
      60_000,
    );
  const caller = (key: string, steer: RouteCaller['steer'] = {}): RouteCaller => ({ gatewayUrl: base(), key, video, steer });
  const rowsOf = async (keyName: string): Promise<readonly CallEntry[]> =>
    (await readLedger(store).all()).filter((entry) => entry.keyName === keyName);
  const figure = async (name: string): Promise<number> => sumSamples(readExposition((await call(running.weir.metricsUrl)).text), name);
  const untilAtRest = () =>
    eventually(
      () => figure('weir_credits_held_usd'),
      (held) => held === 0,
      60_000,
    );

  /** A refused call leaves nothing behind. */
  async function assertRefused(route: PaidRoute, key: string, refusal: Refusal): Promise<void> {
    const before = running.simulator.records().length;
    const reply = await route.go(caller(key));
    assert.equal(describeRefusal(reply), refusals[route.family][refusal], `${route.name}: ${reply.text.slice(0, 500)}`);
    assert.equal(running.simulator.records().length, before, `${route.name}: an upstream was called`);
  }

  test('M6: a call that the limit does not cover is refused in the format of its route, and no upstream is called', async () => {
    const spent = await createKey('caller', 'spent', { spendTotal: '0.000000001' });
    await untilKnown(spent);
    for (const route of paidRoutes) await assertRefused(route, spent, 'spent');
    assert.deepEqual(await rowsOf('spent'), []);
    for (const [name, status, path, body] of freeRoutes) {
      const reply = await callFreeRoute(caller(spent), path, body);
      assert.equal(reply.status, status, `${name} costs nothing: ${reply.text}`);
    }
    await untilAtRest();
  });

  test('M6: a call that no balance covers is refused in the format of its route, and no upstream is called', async () => {
    const empty = await createKey('caller', 'empty', {});
    await accounts.changeUserLimits('caller', { prepaid: true });
    await untilKnown(empty);
    let served = 0;
    await eventually(
      async () => {
        const status = (await paidRoutes[0]?.go(caller(empty)))?.status;
        if (status === 200) served += 1;
        return status;
      },
      (status) => status === 402,
    );
    // Calls that were served before have their rows a moment later.
    const { length: before } = await eventually(
      () => rowsOf('empty'),
      ({ length }) => length >= served,
    );
    for (const route of paidRoutes) await assertRefused(route, empty, 'empty');
    assert.equal((await rowsOf('empty')).length, before);
    for (const [name, status, path, body] of freeRoutes)
      assert.equal((await callFreeRoute(caller(empty), path, body)).status, status, `${name} costs nothing`);
    await accounts.changeUserLimits('caller', { prepaid: null });
    await untilAtRest();
  });

  /** A key of the caller's user with a limit of this many holds of a call on the route. */
  async function createKeyFor(route: PaidRoute, name: string, times: bigint): Promise<void> {
    const { json } = await post(`${base()}/v1/quote`, route.quoted(caller(rich)), bearer(rich));
    assert.ok(json.held !== null && json.held !== undefined, `${route.name}: ${JSON.stringify(json).slice(0, 300)}`);
    // A little more: a message over a socket also says that it is a stream.
    const held = BigInt(json.held.nano_usd);
    const limit = held * times + held / 20n;
    keys.set(name, await createKey('caller', name, { spendTotal: usdDecimal(limit) }));
    limits.set(name, limit);
  }
  const keys = new Map<string, string>();
  const limits = new Map<string, bigint>();
  const keyOf = (name: string): string => keys.get(name) ?? assert.fail(name);

  /** The spend of the keys: by their rows once all calls have them, by each key's own view, and by its limit. */
  async function assertWithin(names: readonly string[]): Promise<void> {
    await untilAtRest();
    await eventually(
      async () => {
        const rows = Map.groupBy(await readLedger(store).all(), ({ keyName }) => keyName);
        const reads = names.map(async (name) => {
          const { json } = await call(`${base()}/v1/credits`, { headers: bearer(keyOf(name)) });
          return [name, sumOf(rows.get(name) ?? []), BigInt(json.limits[0].spent.nano_usd), limits.get(name) ?? 0n] as const;
        });
        return await Promise.all(reads);
      },
      (all) =>
        all.every(([name, booked, told, limit]) => {
          assert.ok(booked <= limit, `${name}: ${booked} was spent of ${limit}`);
          return booked > 0n && booked === told;
        }),
      60_000,
    );
  }

  test(`F1, F2, M6: ${crowd} simultaneous calls on a route spend no more than the limit of their key, and no hold remains`, async () => {
    // A translated call has the same hold as a call that passes through.
    const crowded = paidRoutes.filter(({ name }) => !name.includes('translated'));
    await Promise.all(crowded.map((route) => createKeyFor(route, nameOf(route), 3n)));
    await Promise.all(crowded.map((route) => untilKnown(keyOf(nameOf(route)))));
    for (const route of crowded) {
      const replies = await Promise.all(Array.from({ length: crowd }, () => route.go(caller(keyOf(nameOf(route))))));
      // A machine that is busy with other suites, or stalls, may be too slow for this many, and so may its books.
      const refused = replies.filter(({ status, text }) => status >= 300 && !/The gateway is overloaded|cannot hold credit/.test(text));
      for (const reply of refused) assert.equal(describeRefusal(reply), refusals[route.family].spent, `${route.name}: ${reply.text}`);
      assert.ok(refused.length < crowd, `${route.name}: ${replies[0]?.text}`);
    }
    await assertWithin(crowded.map(nameOf));
    assert.equal(await figure('weir_credits_overdrafts_total'), 0);
  });

  test('F17, M6: a stream that reaches its hold ends in the way of its dialect, and costs no more than the hold', async () => {
    const cut = paidRoutes.flatMap((route) =>
      route.cutEnd === undefined ? [] : [{ route, name: `cut ${nameOf(route)}`, end: route.cutEnd }],
    );
    await Promise.all(cut.map(({ route, name }) => createKeyFor(route, name, 1n)));
    await Promise.all(cut.map(({ name }) => untilKnown(keyOf(name))));
    for (const { route, name, end } of cut) {
      const reply = await route.go(caller(keyOf(name), { 'output-tokens': '3000' }));
      assert.equal(reply.status, 200, `${route.name}: ${reply.text}`);
      assert.match(reply.text, end, route.name);
    }
    await assertWithin(cut.map(({ name }) => name));
    for (const { name } of cut)
      assert.deepEqual(
        (await rowsOf(name)).map(({ end, stopReason }) => [end, stopReason]),
        [['cut', 'cut: budget']],
        name,
      );
  });

  test('a tool loop that cannot pay its next round ends as if at its output limit', async () => {
    for (const [index, route] of paidRoutes.filter(({ name }) => name.startsWith('a tool loop')).entries()) {
      const name = `loop-${index}`;
      await createKeyFor(route, name, 1n);
      await untilKnown(keyOf(name));
      // A model that never ends its calls.
      const reply = await route.go(caller(keyOf(name), { stop: 'tool-use' }));
      assert.equal(reply.status, 200, reply.text);
      assert.match(reply.text, /"status":\s*"incomplete"/, route.name);
      assert.match(reply.text, /"reason":\s*"max_output_tokens"/, route.name);
      // Its rows are booked one after the other; the receipt has all of them at once.
      const receipt = await call(`${base()}${String(reply.headers['x-weir-receipt'])}`, { headers: bearer(keyOf(name)) });
      const rows = await readLedger(store).rows(String(reply.headers['x-weir-request-id']), receipt.json.rows.length);
      assert.ok(rows.length > 1, `${route.name}: its tools ran, and its model was called again`);
      await assertWithin([name]);
    }
  });

  test('R2: if the books are unreachable, calls with a limit are refused and all others continue', async () => {
    const [route] = paidRoutes;
    const free = await createKey('caller', 'free', {});
    await untilKnown(free);
    const [lease] = await store.listLeases();
    assert.ok(lease, 'the process has leased something');
    // Another process takes its name: from now on it must not lease anything.
    await store.openCreditNode({ nodeId: lease.nodeId, sessionId: 'another', nowMs: Date.now() });
    await eventually(
      async () => (await route?.go(caller(rich)))?.status,
      (status) => status === 503,
      60_000,
    );
    for (const each of paidRoutes) await assertRefused(each, rich, 'unavailable');
    assert.equal((await route?.go(caller(free)))?.status, 200);
    await untilAtRest();
  });

  test('M4: the books add up', async () => {
    for (let cursor = verifyStart; ;) {
      const { problems, next } = await store.verifyBooks({ cursor, limit: 1000 });
      assert.deepEqual(problems, []);
      if (next === undefined) return;
      cursor = next;
    }
  });
});
