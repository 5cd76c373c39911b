import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Receipt } from '../../src/billing/receipts/receipt.ts';
import { verifyReceipt } from '../../src/billing/receipts/verify-receipt.ts';
import { runCommand } from '../programs/run-command.ts';
import { compareStatistics } from '../support/audit.ts';
import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { call, post } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedWeir } from '../support/start-simulated-weir.ts';

/** The operator's remedies for impossible usage reports of an upstream. */
let running: SimulatedWeir;
let ledger: Ledger;
before(async () => {
  running = await startSimulatedWeir();
  ledger = await openLedger(running.weir.dataDirectory);
});
after(async () => {
  await ledger.close();
  await running[Symbol.asyncDispose]();
});

const weir = (...words: readonly string[]) => runCommand(['usage', ...words], { WEIR_DATA_DIR: running.weir.dataDirectory });
const body = { model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] };

/** A call whose upstream reports a billion tokens; its id. */
async function callDisputed(): Promise<string> {
  const { gatewayUrl, apiKey } = running.weir;
  const steer = { 'x-simulator-usage': '{"output_tokens":1000000000}', 'x-simulator-output-tokens': '12' };
  const answer = await post(`${gatewayUrl}/v1/messages`, body, { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01', ...steer });
  assert.equal(answer.status, 200, answer.text);
  const callId = String(answer.headers['x-weir-request-id']);
  await ledger.row(callId);
  return callId;
}

async function receiptOf(callId: string): Promise<Receipt> {
  const { gatewayUrl, apiKey } = running.weir;
  const answer = await call(`${gatewayUrl}/v1/receipts/${callId}`, { headers: { authorization: `Bearer ${apiKey}` } });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(verifyReceipt(answer.json).problems, []);
  return answer.json as Receipt;
}

test('B9: a billion tokens for a limit of 50 are listed with the charged count, and accepted or corrected once', async () => {
  const [accepted, corrected, left] = [await callDisputed(), await callDisputed(), await callDisputed()];
  const listed = JSON.parse((await weir('--disputed', '--json')).stdout) as readonly {
    id: string;
    charged_usd: string;
    reported: object;
  }[];
  assert.deepEqual(new Set(listed.map(({ id }) => id)), new Set([accepted, corrected, left]));
  for (const { reported, charged_usd: usd } of listed) {
    assert.equal((reported as { output_tokens: number }).output_tokens, 1_000_000_000);
    assert.ok(Number(usd) < 0.01, usd);
  }
  const before = await receiptOf(accepted);
  assert.equal(before.rows[0]?.disputed?.figures[0]?.most, 50);

  const [first, second] = await Promise.all([
    weir('correct', corrected, 'output_tokens=20', '--note', 'the vendor said so'),
    weir('correct', corrected, 'output_tokens=30'),
  ]);
  assert.equal([first, second].filter(({ code }) => code === 0).length, 1, `${first.stderr}${second.stderr}`);
  assert.match(first.code === 0 ? second.stderr : first.stderr, /was corrected before on .+; nothing was booked/);
  assert.equal((await weir('accept', accepted)).code, 0);
  assert.notEqual((await weir('accept', accepted)).code, 0);
  assert.notEqual((await weir('correct', left, 'tokens=3')).code, 0);
  assert.notEqual((await weir('accept', 'req_unknown')).code, 0);

  const settled = await receiptOf(corrected);
  assert.deepEqual(
    settled.rows.map(({ kind }) => kind),
    ['call', 'settlement'],
  );
  const after = settled.rows[1]?.settlement?.after['output_tokens'];
  assert.equal(after, first.code === 0 ? 20 : 30);
  const whole = await receiptOf(accepted);
  assert.ok(BigInt(whole.total.nano_usd) >= 15_000n * 1_000_000_000n, whole.total.usd);
  const open = JSON.parse((await weir('--disputed', '--json')).stdout) as readonly { id: string }[];
  assert.deepEqual(
    open.map(({ id }) => id),
    [left],
  );
  const all = JSON.parse((await weir('--disputed', '--all', '--json')).stdout) as readonly { settlement: object | null }[];
  assert.equal(all.filter(({ settlement }) => settlement !== null).length, 2);
  assert.match((await weir('--disputed')).stdout, /outputTokens: 1000000000, at most 50 +open/);

  const entries = await ledger.all();
  const { monitorUrl, billingToken } = running.weir;
  assert.deepEqual(await compareStatistics(monitorUrl, billingToken, entries), []);
});
