import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { isExact } from '../support/audit.ts';
import { openCall } from '../support/open-call.ts';
import { skipPostgres } from '../support/start-postgres.ts';
import { openSharedLedger, serveShared, useSharedParts } from './shared-weir.ts';

describe('Idempotency-Key over two gateways on one PostgreSQL', { skip: skipPostgres }, () => {
  const parts = useSharedParts(['fsync=off']);

  test('M10: a hundred simultaneous requests to either gateway are one call, one row and one answer', async () => {
    await using first = await serveShared(parts(), { command: 'gateway' });
    await using second = await serveShared(parts(), { command: 'gateway' });
    const body = JSON.stringify({ model: 'gpt-4.1', stream: true, messages: [{ role: 'user', content: 'Hello' }] });
    const send = (_: unknown, index: number) => {
      const { gatewayUrl, apiKey } = index % 2 === 0 ? first : second;
      const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': 'shared', 'x-simulator-tag': 'shared' };
      return openCall(`${gatewayUrl}/v1/chat/completions`, { headers, body, limitMs: 30_000 }).done;
    };
    const answers = await Promise.all(Array.from({ length: 100 }, send));
    const seen = new Set(answers.map(({ status, text, headers }) => `${status} ${String(headers['x-weir-request-id'])} ${text}`));
    assert.equal(seen.size, 1, [...seen].join('\n').slice(0, 2000));
    assert.equal(answers[0]?.status, 200);
    assert.equal(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1);
    const asked = parts()
      .simulator.records()
      .filter(({ tag }) => tag === 'shared');
    assert.equal(asked.length, 1);
    const ledger = await openSharedLedger(parts());
    await ledger.row(String(answers[0]?.headers['x-weir-request-id']));
    assert.equal((await ledger.all()).length, 1);
    await ledger.close();
  });

  test('M8 and M10: a client that leaves a stream at one gateway gets it whole at the other, at once and later, and it is charged once', async () => {
    const options = { command: 'gateway', config: { disconnect: 'abort' } } as const;
    await using first = await serveShared(parts(), options);
    await using second = await serveShared(parts(), options);
    const body = JSON.stringify({ model: 'gpt-4.1', stream: true, messages: [{ role: 'user', content: 'Hello' }] });
    const steered = { 'x-simulator-pace': 'tokensPerSecond=200;tokensPerFrame=4', 'x-simulator-output-tokens': '150' };
    const send = ({ gatewayUrl, apiKey }: typeof first) => {
      const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': 'left', 'x-simulator-tag': 'left', ...steered };
      return openCall(`${gatewayUrl}/v1/chat/completions`, { headers, body, limitMs: 30_000 });
    };
    const lost = send(first);
    await lost.until((text) => text.length >= 1500);
    lost.leave('rst');
    const answers = await Promise.all([send(second).done, send(first).done]);
    answers.push(await send(second).done);
    for (const { status, text, headers } of answers) {
      assert.deepEqual([status, text, headers['idempotent-replayed']], [200, answers[0]?.text, 'true']);
      assert.match(text, /data: \[DONE\]/);
    }
    const asked = parts()
      .simulator.records()
      .filter(({ tag }) => tag === 'left');
    assert.equal(asked.length, 1);
    const ledger = await openSharedLedger(parts());
    const entry = await ledger.row(String(answers[0]?.headers['x-weir-request-id']));
    assert.ok(asked[0] !== undefined && isExact(entry, asked[0]));
    await ledger.close();
  });
});
