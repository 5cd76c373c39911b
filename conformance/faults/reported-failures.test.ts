import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { assertErrorEvent, assertErrorStatus } from './fault-bench.ts';
import { directions, type ScriptedWeir, speeches, startScriptedWeir, streams } from './translated-bench.ts';

const frame = (type: string, further: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 9, ...further })}\n\n`;

const failed = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [], usage: null };
const error = { code: 'server_error', message: 'The inner model gave up' };

/** Upstreams of Responses that report a failure, each by an event of its own within a 200. */
const endings: readonly (readonly [name: string, event: string])[] = [
  ['response.failed', frame('response.failed', { response: { ...failed, status: 'failed', error } })],
  ['an error event', frame('error', { ...error, param: null })],
  ['response.failed without a reason', frame('response.failed', { response: { ...failed, status: 'failed', error: null } })],
];

/** F65: a failure that an upstream reports by an event within a 200 does not count as a finished reply. */
describe('failures reported within a 200', () => {
  let bench: ScriptedWeir;
  before(async () => {
    bench = await startScriptedWeir();
  });
  after(() => bench[Symbol.asyncDispose]());

  const speech = speeches['openai-responses'];
  for (const { mode, to, title } of directions(true).filter((direction) => direction.to === 'openai-responses')) {
    for (const [name, event] of endings) {
      test(`${title}: ${name} after text: the client gets an error event, and no end`, async () => {
        const reply = await bench.send(mode, to, streams(`${speech.start}${speech.text('Hello ')}${event}`));
        assertErrorEvent(mode, reply);
        const entry = await bench.ledger.row(String(reply.headers['x-weir-request-id']));
        assert.equal(entry.end, 'cut');
      });

      test(`${title}: ${name} before text: the client gets an error status, and pays nothing`, async () => {
        const reply = await bench.send(mode, to, streams(`${speech.start}${event}`));
        assertErrorStatus(mode, reply, /^5\d\d$/);
        const entry = await bench.ledger.row(String(reply.headers['x-weir-request-id']));
        assert.equal(entry.end, 'failed');
        assert.equal(entry.charge.amountNanoUsd, 0n);
      });
    }
  }
});
