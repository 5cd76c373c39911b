import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { post } from '../support/http.ts';
import { openLedger } from '../support/read-ledger.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';

const reply = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'compaction', content: 'A summary.' },
    { type: 'text', text: 'Hello.' },
  ],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: {
    input_tokens: 300,
    output_tokens: 5,
    iterations: [
      { type: 'compaction', input_tokens: 900, output_tokens: 70 },
      { type: 'message', input_tokens: 300, output_tokens: 5 },
    ],
  },
});

test('a compaction within a call is charged beside the reply, whatever `max_tokens` allows the reply', async (context) => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(reply);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using weir = await serveWeir({
    command: 'gateway',
    config: JSON.stringify({
      upstreams: { near: { vendor: 'anthropic', baseUrl, apiKey: 'sk-near-0123456789' } },
      models: { m: { targets: [{ upstream: 'near' }], price: { input: '1', output: '2' } } },
      overload: neverOverloaded,
    }),
  });
  const ledger = await openLedger(weir.dataDirectory);
  context.after(() => ledger.close());
  const body = {
    model: 'm',
    max_tokens: 20,
    messages: [{ role: 'user', content: 'A long conversation. '.repeat(100) }],
    context_management: { edits: [{ type: 'compact_20260112' }] },
  };
  const answer = await post(`${weir.gatewayUrl}/v1/messages`, body, { 'x-api-key': weir.apiKey, 'anthropic-version': '2023-06-01' });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.text, reply);
  const { usage, charge, estimated, disputed } = await ledger.row(String(answer.headers['x-weir-request-id']));
  assert.deepEqual([usage.inputTokens, usage.outputTokens, estimated, disputed], [1200, 75, false, undefined]);
  assert.equal(charge.amountNanoUsd, 1200n * 1000n + 75n * 2000n);
});
