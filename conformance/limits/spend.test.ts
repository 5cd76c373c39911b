import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { after, before, describe, test } from 'node:test';

import { usdDecimal } from '../../src/billing/statistics/usd-decimal.ts';
import { type FaultBench, type Mode, startFaultBench, streamModes, wholeModes } from '../faults/fault-bench.ts';
import { runCommand } from '../programs/run-command.ts';
import { eventually } from '../support/http.ts';

const refusals: Readonly<Record<string, readonly [spent: number, balance: number]>> = {
  'anthropic-messages': [429, 402],
  'openai-responses': [429, 402],
  'openai-chat': [429, 402],
  'gemini-generate-content': [429, 403],
};

/** Keys with a spend limit, and a lease desk that leases from the store. */
describe('spending within limits', { concurrency: 4 }, () => {
  let bench: FaultBench;
  const keys = new Map<string, string>();
  before(async () => {
    bench = await startFaultBench({ weir: { command: 'gateway' }, config: { credits: { outputTokensDefault: 64 } } });
    await Promise.all([
      createKey('rich', 'rich', '--spend-total', '1000'),
      createKey('poor', 'poor', '--spend-total', '0.000000001'),
      createKey('prepaid', 'prepaid'),
    ]);
    await weir('users', 'limit', 'prepaid', '--prepaid');
    await eventually(
      () => Promise.all(['rich', 'poor', 'prepaid'].map(async (name) => (await send(wholeModes[0] ?? missing(), name)).status)),
      (statuses) => statuses.join() === '200,429,402',
    );
  });
  after(() => bench[Symbol.asyncDispose]());

  const missing = (): never => assert.fail('the mode does not exist');
  const weir = async (...words: readonly string[]): Promise<string> => {
    const created = await runCommand(words, { WEIR_DATA_DIR: bench.weir.dataDirectory });
    assert.equal(created.code, 0, JSON.stringify(created));
    return created.stdout.trim();
  };
  const createKey = async (user: string, name: string, ...options: readonly string[]): Promise<void> => {
    keys.set(name, await weir('keys', 'create', '--user', user, '--name', name, ...options));
  };
  const steered = (name: string, more: object = {}) => ({ headers: { authorization: `Bearer ${keys.get(name)}` }, ...more });
  const send = (mode: Mode, name: string, more: object = {}) => bench.send(mode, steered(name, more));

  for (const mode of [...wholeModes, ...streamModes]) {
    const [spent, balance] = refusals[mode.api.dialect] ?? missing();
    test(`${mode.title}: a call that the limit does not cover is refused in the dialect's format, and no upstream is called`, async () => {
      for (const [name, status] of [
        ['poor', spent],
        ['prepaid', balance],
      ] as const) {
        const reply = await send(mode, name);
        assert.equal(reply.status, status, reply.text);
        assert.equal(reply.headers['retry-after'], undefined);
        assert.ok(!bench.simulator.records().some(({ tag }) => tag === reply.tag));
      }
    });

    test(`M2, ${mode.title}: a covered call has its normal cost, and its row has the held amount`, async () => {
      const entry = await bench.rowOf(await send(mode, 'rich'));
      assert.equal(entry.end, 'finished');
      assert.ok(BigInt(entry.heldNanoUsd ?? '0') >= entry.charge.amountNanoUsd && entry.charge.amountNanoUsd > 0n);
      assert.ok(entry.heldPots !== undefined && entry.heldPots > 0);
    });
  }

  // Messages must set an output limit, and the hold covers all of it.
  for (const mode of streamModes.filter(({ api }) => api.dialect !== 'anthropic-messages'))
    test(`F17, M6, ${mode.title}: a stream that reaches the limit of its key is ended properly, and the limit is kept`, async () => {
      const first = await bench.rowOf(await send(mode, 'rich', { steer: { 'output-tokens': '16' } }));
      const limit = (BigInt(first.heldNanoUsd ?? '0') * 101n) / 100n;
      const name = `cut-${mode.title}`;
      await createKey(
        `user-${mode.title}`.replaceAll(/[^a-z-]/g, '-'),
        name.replaceAll(/[^a-z-]/g, '-'),
        '--spend-total',
        usdDecimal(limit),
      );
      const key = name.replaceAll(/[^a-z-]/g, '-');
      const long = { steer: { 'output-tokens': '3000' } };
      const reply = await eventually(
        () => send(mode, key, long),
        ({ status }) => status === 200,
      );
      assert.equal(reply.end, 'complete');
      assert.match(reply.text, mode.api.dialect === 'openai-responses' ? /^event: response\.incomplete/m : mode.api.terminal);
      assert.match(reply.text, /"finish_reason":"length"|"reason":"max_output_tokens"|MAX_TOKENS/);
      const entry = await bench.rowOf(reply);
      assert.deepEqual([entry.end, entry.stopReason], ['cut', 'cut: budget']);
      assert.ok(entry.charge.amountNanoUsd > 0n && entry.charge.amountNanoUsd <= limit, `${entry.charge.amountNanoUsd} of ${limit}`);
    });

  test('M6, F1, F2: simultaneous calls on one key spend no more than its limit', async () => {
    const mode = wholeModes[2] ?? missing();
    const first = await bench.rowOf(await send(mode, 'rich'));
    const limit = BigInt(first.heldNanoUsd ?? '0') * 5n;
    await createKey('crowd', 'crowd', '--spend-total', usdDecimal(limit));
    await eventually(
      () => send(mode, 'crowd'),
      ({ status }) => status === 200,
    );
    const replies = await Promise.all(Array.from({ length: 60 }, () => send(mode, 'crowd')));
    // If the machine stalls for seconds, so do the books, and calls get retry advice.
    const odd = replies.filter(({ status, text }) => status !== 200 && status !== 429 && !text.includes('credits_unavailable'));
    assert.deepEqual(
      odd.map(({ status, text }) => `${status} ${text}`),
      [],
    );
    const admitted = 1 + replies.filter(({ status }) => status === 200).length;
    // A reply may exist a moment before its row.
    const rows = await eventually(
      async () => (await bench.ledger.all()).filter(({ keyName }) => keyName === 'crowd'),
      ({ length }) => length >= admitted,
    );
    assert.equal(rows.length, admitted);
    const spent = rows.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n);
    assert.ok(spent > 0n && spent <= limit, `${spent} of ${limit}`);
  });

  test('a key sees its limits and its balance in the described format', async () => {
    const read = async (name: string): Promise<Record<string, unknown>> => {
      const response = await fetch(`${bench.weir.gatewayUrl}/v1/credits`, { headers: { authorization: `Bearer ${keys.get(name)}` } });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('cache-control'), 'private, no-store');
      return (await response.json()) as Record<string, unknown>;
    };
    const nothing = { nano_usd: '0', usd: '0' };
    const known = { object: 'credits', currency: 'USD' };
    const { balance: ofPrepaid, ...prepaid } = await read('prepaid');
    assert.deepEqual(prepaid, { ...known, user: 'prepaid', key: 'prepaid', limits: [] });
    // The key may have made calls before it was prepaid, and owes them.
    const { amount, reserved } = ofPrepaid as { readonly amount: { readonly nano_usd: string }; readonly reserved: object };
    assert.ok(BigInt(amount.nano_usd) <= 0n);
    assert.deepEqual(reserved, nothing);
    const { limits, balance } = await read('poor');
    assert.equal(balance, null);
    const limit = { nano_usd: '1', usd: '0.000000001' };
    const [{ reserved: leased, ...standing }] = limits as [{ readonly reserved: unknown }];
    assert.deepEqual(standing, { scope: 'key', period: 'total', limit, spent: nothing, resets_at: null });
    // The process may have leased the rest for a call, and not released it yet.
    assert.ok([nothing, limit].some((either) => isDeepStrictEqual(leased, either)));
    assert.equal((await fetch(`${bench.weir.gatewayUrl}/v1/credits`)).status, 401);
  });
});
