import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { openLedger } from '../support/read-ledger.ts';
import { eventually, post } from '../support/http.ts';
import { openCall } from '../support/open-call.ts';
import { type SimulatedProgram, startSimulatedProgram } from '../support/start-simulated-weir.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';

const stream = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello' }], stream: true };
const slow = { 'x-simulator-pace': 'tokensPerSecond=20', 'x-simulator-output-tokens': '400' };

/** The state of a request after its process has died. */
describe('Idempotency-Key, when a process is killed', () => {
  let running: SimulatedProgram;
  before(async () => {
    running = await startSimulatedProgram({ config: { idempotency: { waitMs: 0 } } });
  });
  after(() => running[Symbol.asyncDispose]());

  const headersOf = (key: string, more: Readonly<Record<string, string>> = {}) => ({
    authorization: `Bearer ${running.weir.apiKey}`,
    'idempotency-key': key,
    'x-simulator-tag': key,
    ...more,
  });
  const requestsOf = (tag: string) => running.simulator.records().filter((record) => record.tag === tag);
  const urlOf = ({ gatewayUrl }: RunningWeir) => `${gatewayUrl}/v1/chat/completions`;

  test('M10: while the first call is in progress, the second is refused at once and may be retried', async () => {
    const url = urlOf(running.weir);
    const first = openCall(url, { headers: headersOf('in-flight', slow), body: JSON.stringify(stream), limitMs: 30_000 });
    await first.until((text) => text.includes('content'));
    const second = await post(url, stream, headersOf('in-flight', slow));
    assert.equal(second.status, 409);
    assert.equal(second.json.error.code, 'idempotency_in_progress');
    assert.ok(Number(second.headers['retry-after']) > 0);
    first.leave('rst');
    assert.equal(requestsOf('in-flight').length, 1);
    assert.doesNotMatch(running.weir.output(), /failed inside the gateway/);
  });

  test('killed in the middle of the answer: the call is charged once, and a repetition names it and makes no second call', async () => {
    const { dataDirectory } = running.weir;
    const first = openCall(urlOf(running.weir), { headers: headersOf('killed', slow), body: JSON.stringify(stream), limitMs: 30_000 });
    await first.until((text) => text.split('content').length > 4);
    const callId = String((await first.head).headers['x-weir-request-id']);
    await running.weir.stop('SIGKILL');
    const weir = await startWeir({ dataDirectory, environment: { WEIR_CONFIG: join(dataDirectory, 'weir.yaml') } });
    const ledger = await openLedger(dataDirectory);
    try {
      // The process that replaces another knows that it is dead, so it does not wait for its lease of half a minute.
      const late = await eventually(
        () => post(urlOf(weir), stream, headersOf('killed')),
        ({ json }) => json.error.code === 'idempotency_spent',
        20_000,
      );
      assert.equal(late.status, 409);
      assert.match(late.json.error.message, new RegExp(callId));
      assert.equal((await ledger.row(callId)).end, 'lost');
      assert.equal(requestsOf('killed').length, 1);
      const rows = await eventually(
        () => ledger.all(),
        (entries) => entries.length > 0,
      );
      assert.equal(rows.filter((entry) => entry.callId === callId).length, 1);
      const anew = await post(urlOf(weir), stream, headersOf('killed-again'));
      assert.equal(anew.status, 200);
      // This gateway lets no request wait, and the answer is recorded a moment after its client has it.
      const again = await eventually(
        () => post(urlOf(weir), stream, headersOf('killed-again')),
        ({ status }) => status === 200,
      );
      assert.equal(again.text, anew.text);
      await weir.stop();
      const third = await startWeir({ dataDirectory, environment: { WEIR_CONFIG: join(dataDirectory, 'weir.yaml') } });
      const kept = await post(urlOf(third), stream, headersOf('killed-again'));
      assert.equal(kept.text, anew.text, 'the recorded reply outlives its process');
      await third.stop();
    } finally {
      await ledger.close();
      await weir.stop('SIGKILL');
    }
  });
});
