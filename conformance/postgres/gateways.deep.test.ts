import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { bookOf, plainEntry } from '../../src/billing/rating/testing/price-book-kit.ts';
import { runCommand } from '../programs/run-command.ts';
import type { Finished } from '../programs/run-weir.ts';
import { makeCall, modeOf } from '../books/load.ts';
import { auditBooks, compareStatistics } from '../support/audit.ts';
import { call, eventually, post } from '../support/http.ts';
import { skipPostgres } from '../support/start-postgres.ts';
import { openSharedLedger, serveShared, useSharedParts } from './shared-weir.ts';

/** Runs a command with a date, and repeats it if midnight passed before the command read its own clock. */
async function onOneDay(run: (today: string) => Promise<Finished>): Promise<Finished> {
  const todayIs = (): string => new Date().toISOString().slice(0, 10);
  for (;;) {
    const today = todayIs();
    const finished = await run(today);
    if (finished.code === 0 || todayIs() === today) return finished;
  }
}

describe('two gateways and a monitor on one PostgreSQL, each with a role that has the least rights', { skip: skipPostgres }, () => {
  const parts = useSharedParts(['fsync=off']);

  test('books are exact, and statistics equal the ledger', async () => {
    await using first = await serveShared(parts(), { command: 'gateway' });
    await using second = await serveShared(parts(), { command: 'gateway' });
    await using monitor = await serveShared(parts(), { command: 'monitor' });
    const gateways = [first, second];
    const clients = await Promise.all(
      Array.from({ length: 120 }, (_, number) => {
        const gateway = gateways[number % 2] ?? first;
        return makeCall(gateway.gatewayUrl, gateway.apiKey, { ...modeOf(number + 1), number: number + 1 });
      }),
    );
    assert.deepEqual(
      clients.filter(({ complete }) => !complete).map(({ tag, status, text }) => [tag, status, text]),
      [],
    );
    const ledger = await openSharedLedger(parts());
    const entries = await eventually(ledger.all, (rows) => rows.length === clients.length);
    await ledger.close();
    const truths = parts()
      .simulator.records()
      .filter(({ tag }) => tag !== undefined);
    const { problems } = auditBooks({ entries, truths, clients, lostTokensMax: 0 });
    assert.deepEqual(problems, []);
    assert.deepEqual(await compareStatistics(monitor.monitorUrl, monitor.billingToken, entries), []);
  });

  test('an object that one gateway stored is visible at the other: a response, a conversation, a key that a command made', async () => {
    await using first = await serveShared(parts(), { command: 'gateway' });
    await using second = await serveShared(parts(), { command: 'gateway' });
    const auth = { authorization: `Bearer ${first.apiKey}` };
    const created = await post(`${first.gatewayUrl}/v1/responses`, { model: 'gpt-5-mini', input: 'Hello', store: true }, auth);
    assert.equal(created.status, 200, created.text);
    const found = await call(`${second.gatewayUrl}/v1/responses/${created.json.id}`, { headers: auth });
    assert.deepEqual([found.status, found.json?.id], [200, created.json.id]);
    const next = { model: 'gpt-5-mini', input: 'And then?', previous_response_id: created.json.id };
    assert.equal((await post(`${second.gatewayUrl}/v1/responses`, next, auth)).status, 200);
    const conversation = await post(`${second.gatewayUrl}/v1/conversations`, { metadata: { topic: 'shared' } }, auth);
    const seen = await call(`${first.gatewayUrl}/v1/conversations/${conversation.json.id}`, { headers: auth });
    assert.deepEqual(seen.json?.metadata, { topic: 'shared' }, seen.text);
    const command = await runCommand(['keys', 'create', '--user', 'ann', '--name', 'ci'], {
      WEIR_CONFIG: join(first.dataDirectory, 'weir.yaml'),
      WEIR_DATA_DIR: first.dataDirectory,
    });
    const secret = /sk-weir-\S+/.exec(command.stdout)?.[0] ?? assert.fail(command.stderr);
    for (const { gatewayUrl } of [first, second]) {
      const body = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] };
      assert.equal((await post(`${gatewayUrl}/v1/chat/completions`, body, { authorization: `Bearer ${secret}` })).status, 200);
    }
  });

  test('one publication reaches every gateway within seconds, and a receipt later names its book', async () => {
    await using first = await serveShared(parts(), { command: 'gateway' });
    await using second = await serveShared(parts(), { command: 'gateway' });
    const environment = { WEIR_CONFIG: join(first.dataDirectory, 'weir.yaml'), WEIR_DATA_DIR: first.dataDirectory };
    const publish = (input: string, ...options: readonly string[]) => {
      const path = join(first.dataDirectory, 'new-prices.json');
      writeFileSync(
        path,
        JSON.stringify(
          bookOf(plainEntry({ vendor: 'openai', model: 'gpt-5-mini', tiers: [{ inputAbove: 0, prices: { input, output: '10' } }] })),
        ),
      );
      return onOneDay((today) => runCommand(['prices', 'publish', path, '--from', today, ...options], environment));
    };
    const refused = await publish('2');
    assert.match(refused.stderr, /the role of the configuration may not publish prices/);
    const auth = { authorization: `Bearer ${first.apiKey}` };
    const receiptOf = async (url: string) => {
      const reply = await post(`${url}/v1/chat/completions`, { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] }, auth);
      const receipt = () => call(`${url}/v1/receipts/${String(reply.headers['x-weir-request-id'])}`, { headers: auth });
      return (await eventually(receipt, ({ status }) => status === 200)).text;
    };
    let receipt = '';
    for (const [price, book] of [
      ['2', 'store-1'],
      ['3', 'store-2'],
    ] as const) {
      const published = await publish(price, '--url', parts().server.url('weir', 'weir_operator'));
      assert.equal(published.code, 0, published.stderr);
      for (const { gatewayUrl } of [first, second]) {
        const found = await eventually(
          () => receiptOf(gatewayUrl),
          (text) => text.includes(book),
        );
        if (receipt === '') receipt = found;
      }
    }
    const path = join(first.dataDirectory, 'receipt.json');
    writeFileSync(path, receipt);
    const verified = await runCommand(['receipt', 'verify', path, '--prices'], environment);
    assert.match(verified.stdout, /is right, also by the prices of \S+\+store-1\+[0-9a-f]{8}/, verified.stderr);
  });

  test('the other gateway follows a video of one gateway to its end, and it is charged once', async () => {
    const models = { 'kite-video': { targets: [{ upstream: 'xai', model: 'grok-imagine-video' }] } };
    await using first = await serveShared(parts(), { command: 'gateway', config: { models } });
    await using second = await serveShared(parts(), { command: 'gateway', config: { models } });
    const auth = { authorization: `Bearer ${first.apiKey}` };
    const wish = { model: 'kite-video', prompt: 'a red kite' };
    const created = await post(`${first.gatewayUrl}/v1/video/generations`, wish, { ...auth, 'x-simulator-video': 'ms=300' });
    assert.ok(created.status < 300, created.text);
    const id = String(created.json.id ?? created.json.task_id);
    const ended = await eventually(
      () => call(`${second.gatewayUrl}/v1/video/generations/${id}`, { headers: auth }),
      ({ text }) => /"status":"(?:completed|succeeded)"/.test(text),
      60_000,
    );
    assert.equal(ended.status, 200, ended.text);
    const rows = await parts().server.query(`select count(*) from calls where requested_model = 'kite-video'`, { role: 'weir_monitor' });
    assert.equal(rows, '1');
    const stranger = await call(`${second.gatewayUrl}/v1/video/generations/${id}`, {
      headers: { authorization: 'Bearer sk-nobody-0123456789' },
    });
    assert.equal(stranger.status, 401);
  });
});
