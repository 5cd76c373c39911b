import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { runCommand } from '../programs/run-command.ts';
import { openLedger } from '../support/read-ledger.ts';
import { billedCalls, type BilledTruth, exportAnthropic, exportGoogle, exportOpenAi } from '../support/export-usage.ts';
import { eventually, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { type SimulatedWeir, startSimulatedWeir } from '../support/start-simulated-weir.ts';

const vendors = [
  { vendor: 'openai', ledgerVendor: 'openai', write: exportOpenAi },
  { vendor: 'anthropic', ledgerVendor: 'anthropic', write: exportAnthropic },
  { vendor: 'google', ledgerVendor: 'gemini', write: exportGoogle },
] as const;

type CellReport = {
  readonly model: string;
  readonly day: string;
  readonly signs: object;
  readonly usage: readonly { readonly difference: number }[];
};
type CallReport = { readonly request_id: string; readonly explains_difference: boolean };

describe("the ledger and the vendors' own accounts of the same calls", () => {
  let running: SimulatedWeir;
  /** The gateway's ids of the calls, by the tag that the vendor received. */
  const ids = new Map<string, string>();
  /**
   * The time at which the gateway accepted them. A vendor gets a call a moment later, possibly after midnight; here
   * both have the same clock.
   */
  const acceptedAtMs = new Map<string, number>();
  const billed = (vendor: string) =>
    billedCalls(running.simulator.records(), vendor).map((truth) => ({
      ...truth,
      receivedAtMs: acceptedAtMs.get(ids.get(truth.tag ?? '') ?? '') ?? assert.fail(truth.tag),
    }));
  before(async () => {
    running = await startSimulatedWeir();
    const { gatewayUrl, apiKey, dataDirectory } = running.weir;
    const send = async (path: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<void> => {
      const tag = `call-${ids.size}`;
      const reply = await post(`${gatewayUrl}${path}`, body, { ...headers, authorization: `Bearer ${apiKey}`, 'x-simulator-tag': tag });
      assert.equal(reply.status, 200, reply.text.slice(0, 300));
      ids.set(tag, String(reply.headers['x-weir-request-id']));
    };
    for (const { path, body, model, headers } of chatInterfaces)
      for (const [stream, outputTokens] of [
        [false, 11],
        [true, 23],
        [true, 31],
      ] as const) {
        const text = `call ${ids.size} of them: ${'word '.repeat(ids.size * 3)}`;
        await send(path(model, stream), body(model, text, stream), { ...headers, 'x-simulator-output-tokens': String(outputTokens) });
      }
    // A long prefix that is written to a cache, and read from it.
    const system = [{ type: 'text', text: 'a rule that holds. '.repeat(2000), cache_control: { type: 'ephemeral', ttl: '1h' } }];
    for (const content of ['first', 'second']) {
      const asked = { model: 'claude-sonnet-4-5', max_tokens: 50, system, messages: [{ role: 'user', content }] };
      await send('/v1/messages', asked, { 'anthropic-version': '2023-06-01' });
    }
    const ledger = await openLedger(dataDirectory);
    const rows = await eventually(
      () => ledger.all(),
      ({ length }) => length === ids.size,
    );
    for (const { callId, acceptedAtMs: atMs } of rows) acceptedAtMs.set(callId, atMs);
    await ledger.close();
  });
  after(() => running[Symbol.asyncDispose]());

  /** Reconciles an export by the command, as an operator would. */
  async function reconcile(vendor: string, text: string, ...words: readonly string[]) {
    const { dataDirectory } = running.weir;
    const file = join(dataDirectory, `${vendor}.export`);
    writeFileSync(file, text);
    return await runCommand(['reconcile', file, '--vendor', vendor, ...words], { WEIR_DATA_DIR: dataDirectory });
  }

  for (const { vendor, ledgerVendor, write } of vendors)
    test(`${vendor}: the booked usage is what the vendor counted, and a call that is removed from its account is found`, async () => {
      const truths = billed(ledgerVendor);
      assert.ok(truths.length >= 3);
      const equal = await reconcile(vendor, write(truths), '--json');
      const report = JSON.parse(equal.stdout) as { cells: readonly CellReport[] };
      assert.deepEqual(
        report.cells.flatMap(({ usage }) => usage.filter(({ difference }) => difference !== 0)),
        [],
      );
      assert.equal(equal.code, 0, equal.stdout + equal.stderr);

      const [missing, ...others] = truths.toReversed();
      assert.ok(missing !== undefined);
      const differing = await reconcile(vendor, write(others), '--json');
      assert.equal(differing.code, 1, differing.stderr);
      const cells = (JSON.parse(differing.stdout) as { cells: readonly CellReport[] }).cells.filter(({ usage }) =>
        usage.some(({ difference }) => difference !== 0),
      );
      assert.equal(cells.length, 1);
      const listed = await reconcile(vendor, write(others), '--calls', `${cells[0]?.model}:${cells[0]?.day}`, '--json');
      const { calls } = JSON.parse(listed.stdout) as { calls: readonly CallReport[] };
      assert.deepEqual(
        calls.filter(({ explains_difference }) => explains_difference).map(({ request_id }) => request_id),
        [ids.get(missing.tag ?? '')],
      );
    });

  test('usage that did not go through the gateway is found, and a tolerance hides small differences', async () => {
    const truths = billed('openai');
    const [first] = truths;
    assert.ok(first?.plannedUsage !== undefined);
    const foreign: BilledTruth = { ...first, plannedUsage: { ...first.plannedUsage, inputTokens: 0, outputTokens: 1 } };
    const differing = await reconcile('openai', exportOpenAi([...truths, foreign]));
    assert.equal(differing.code, 1);
    assert.match(differing.stdout, /output +\d+ +\d+ +\+1 .*calls that did not go through this gateway/);
    assert.match(differing.stdout, /requests +\d+ +\d+ +\+1/);
    assert.equal((await reconcile('openai', exportOpenAi([...truths, foreign]), '--tolerance', '60')).code, 0);
  });

  test("costs: the vendor's bill is listed beside the usage at list price, by class, to the last digit", async () => {
    type CostReport = { readonly costs: readonly { day: string; model: string; item: string; ours_usd: string; difference_usd: string }[] };
    type Cost = { readonly day: string };
    /** An account with a bucket for each day: the calls were made within the last hour, which may be yesterday. */
    const write = (costs: readonly Cost[]): string => {
      const days = [Date.now() - 3_600_000, Date.now()].map((atMs) => new Date(atMs).toISOString().slice(0, 10));
      const data = [...new Set(days)].map((day) => ({
        starting_at: `${day}T00:00:00Z`,
        ending_at: new Date(Date.parse(day) + 86_400_000).toISOString(),
        results: costs.filter((cost) => cost.day === day).map(({ day: _day, ...result }) => result),
      }));
      return JSON.stringify({ data, has_more: false, next_page: null });
    };
    const costOf = (day: string, model: string, tokenType: string, usd: number) => ({
      day,
      amount: (usd * 100).toFixed(10),
      currency: 'USD',
      cost_type: 'tokens',
      description: `${model} ${tokenType}`,
      model,
      token_type: tokenType,
    });
    const tokenTypes: Readonly<Record<string, string>> = {
      cache_write_1h: 'cache_creation.ephemeral_1h_input_tokens',
      cache_read: 'cache_read_input_tokens',
      input: 'uncached_input_tokens',
      output: 'output_tokens',
    };
    const alone = await reconcile(
      'anthropic',
      write([costOf(new Date().toISOString().slice(0, 10), 'nothing', 'output_tokens', 0)]),
      '--json',
    );
    const ours = (JSON.parse(alone.stdout) as CostReport).costs.filter(({ ours_usd }) => ours_usd !== '0');
    assert.ok(new Set(ours.map(({ item }) => item)).isSupersetOf(new Set(Object.keys(tokenTypes))), alone.stdout);
    const results = ours.map(({ day, model, item, ours_usd }) => costOf(day, model, tokenTypes[item] ?? item, Number(ours_usd)));
    assert.equal((await reconcile('anthropic', write(results))).code, 0);
    const [first, ...others] = results;
    assert.ok(first !== undefined);
    const dearer = [...others, { ...first, amount: '7' }];
    const differing = await reconcile('anthropic', write(dearer));
    assert.deepEqual(
      [differing.code, /in all \S+ at list price, \S+ by the vendor, and users were charged/.test(differing.stdout)],
      [1, true],
    );
    assert.match((await reconcile('anthropic', write(dearer), '--calls', 'm:2026-01-01')).stderr, /needs an export of usage/);
  });

  test('an account that cannot be compared is an error of its own: exit code 2 and the reason', async () => {
    const wrong: readonly (readonly [string, string, readonly string[], RegExp])[] = [
      ['openai', 'no export', [], /is not JSON/],
      ['nobody', '{}', [], /--vendor must be one of openai, anthropic, google/],
      ['openai', exportOpenAi(billed('openai')), ['--tolerance', 'much'], /--tolerance/],
      ['openai', exportOpenAi(billed('openai')), ['--calls', 'm:2026-01-01'], /neither side has this model/],
      ['openai', exportOpenAi(billed('openai')), ['--from', 'soon'], /is not a day/],
    ];
    for (const [vendor, text, words, problem] of wrong) {
      const { code, stderr } = await reconcile(vendor, text, ...words);
      assert.deepEqual([code, problem.test(stderr)], [2, true], stderr);
    }
    const { dataDirectory } = running.weir;
    const config = join(dataDirectory, 'broken.yaml');
    writeFileSync(config, 'database: nowhere\n');
    const file = join(dataDirectory, 'openai.export');
    const unread = await runCommand(['reconcile', file, '--vendor', 'openai'], { WEIR_DATA_DIR: dataDirectory, WEIR_CONFIG: config });
    assert.deepEqual([unread.code, /configuration cannot be used/.test(unread.stderr)], [2, true], unread.stderr);
  });
});
