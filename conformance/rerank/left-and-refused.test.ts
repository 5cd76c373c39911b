import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type AudioWeir, startAudioWeir } from '../audio/audio-weir.ts';
import { type Answer, sendJson } from '../audio/start-audio-upstream.ts';
import { post } from '../support/http.ts';
import { openCall } from '../support/open-call.ts';

const body = { query: 'the coast', documents: ['a bank', 'the coast'] };
const made: Answer = (_, response) =>
  sendJson(response, 200, { results: [{ index: 1, relevance_score: 0.9 }], meta: { billed_units: { search_units: 1 } } });

/** Invalid replies to a request for a ranking. */
const faults: Readonly<Record<string, Answer>> = {
  'no results': (_, response) => sendJson(response, 200, { object: 'list' }),
  'a document that was not sent': (_, response) => sendJson(response, 200, { results: [{ index: 2, relevance_score: 1 }] }),
  'a document twice': (_, response) => sendJson(response, 200, { results: [0, 0].map((index) => ({ index, relevance_score: 1 })) }),
};

describe('rankings that fail', () => {
  let running: AudioWeir;
  before(async () => {
    running = await startAudioWeir(made, {
      quirks: { rerank: 'cohere' },
      config: { prices: { unlisted: 'refuse' }, retries: { attemptsMax: 2, avoidFailing: false } },
      models: {
        ranker: { targets: [{ upstream: 'server', model: 'ranker' }], price: { searchUnit: '0.002' } },
        unpriced: { targets: [{ upstream: 'server', model: 'ranker' }], price: { input: '1', output: '1' } },
      },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  const ask = (model: string) =>
    post(`${running.weir.gatewayUrl}/v2/rerank`, { model, ...body }, { authorization: `Bearer ${running.weir.apiKey}` });

  for (const [name, fault] of Object.entries(faults))
    test(`${name}: the upstream is called once more, and the client does not get the invalid ranking`, async () => {
      const { second, rows } = running;
      const [count, calls] = [(await rows(0)).length, second.calls.length];
      second.answer = (call, response) => {
        second.answer = made;
        return fault(call, response);
      };
      const reply = await ask('ranker');
      assert.deepEqual([reply.status, reply.json.results?.[0]?.index], [200, 1], reply.text);
      const row = (await rows(count + 1)).at(-1);
      assert.deepEqual([second.calls.length - calls, row?.failedAttempts?.length, row?.usage], [2, 1, { searchUnits: 1 }]);
    });

  test('B15: if calls without a price are refused, search units must have one', async () => {
    const calls = running.second.calls.length;
    const reply = await ask('unpriced');
    assert.deepEqual([reply.status, /units of rankings/.test(reply.json.message)], [403, true], reply.text);
    assert.equal(running.second.calls.length, calls);
  });

  test('P12: a client that disconnects after the upstream has begun to answer is charged the units of its request', async () => {
    const { second, rows, weir } = running;
    const count = (await rows(0)).length;
    const begun = Promise.withResolvers<unknown>();
    second.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(' ', begun.resolve);
    };
    const headers = { authorization: `Bearer ${weir.apiKey}`, 'content-type': 'application/json' };
    const asked = { model: 'ranker', ...body };
    const client = openCall(`${weir.gatewayUrl}/v2/rerank`, { headers, body: JSON.stringify(asked) });
    await begun.promise;
    // When the gateway has answered another request it has also read the head, which was sent before.
    const quoted = await post(`${weir.gatewayUrl}/v1/quote`, { path: '/v2/rerank', body: asked }, headers);
    assert.equal(quoted.status, 200, quoted.text);
    client.leave('fin');
    const row = (await rows(count + 1)).at(-1);
    second.answer = made;
    assert.deepEqual([row?.end, row?.usage, String(row?.charge.amountNanoUsd)], ['client-left', { searchUnits: 1 }, '2000000']);
  });
});
