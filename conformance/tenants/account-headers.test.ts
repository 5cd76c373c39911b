import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { chatInterfaces } from '../support/interfaces.ts';
import { post } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway, upstreamKey } from '../support/start-simulated-weir.ts';

const accountHeader = /organization|project|ratelimit|priority/;

const shownOf = (headers: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.keys(headers).filter((name) => accountHeader.test(name));

/** Data about the operator's account at a vendor, which all callers share. */
describe("headers of the operator's account", () => {
  let bench: SimulatedWeir;
  before(async () => {
    bench = await startSimulatedGateway({
      upstreams: ({ anthropic, openai }) => ({
        openAnthropic: {
          vendor: 'anthropic',
          baseUrl: anthropic,
          apiKey: upstreamKey,
          forwardHeaders: ['x-simulator-*'],
          forwardReplyHeaders: ['anthropic-ratelimit-requests-*'],
        },
        openOpenai: { vendor: 'openai', baseUrl: openai, apiKey: upstreamKey, forwardReplyHeaders: ['openai-organization'] },
      }),
      models: {
        'open-claude': { targets: [{ upstream: 'openAnthropic', model: 'claude-sonnet-4-5' }] },
        'open-gpt': { targets: [{ upstream: 'openOpenai', model: 'gpt-4.1' }] },
        'claude-sonnet-4-5': { targets: [{ upstream: 'anthropic' }] },
        'gpt-4.1': { targets: [{ upstream: 'openai' }] },
        'gpt-5-mini': { targets: [{ upstream: 'openai' }] },
        'gemini-2.5-flash': { targets: [{ upstream: 'gemini' }] },
        'grok-4': { targets: [{ upstream: 'xai' }] },
      },
    });
  });
  after(() => bench[Symbol.asyncDispose]());

  const ask = (index: number, model: string | undefined, options: { readonly stream?: boolean; readonly fault?: string } = {}) => {
    const one = chatInterfaces[index];
    assert.ok(one !== undefined);
    const { stream = false, fault } = options;
    const name = model ?? one.model;
    return post(`${bench.weir.gatewayUrl}${one.path(name, stream)}`, one.body(name, 'Hello', stream), {
      ...one.headers,
      authorization: `Bearer ${bench.weir.apiKey}`,
      ...(fault === undefined ? {} : { 'x-simulator-fault': fault }),
    });
  };

  for (const [index, { dialect }] of chatInterfaces.entries()) {
    test(`they reach no caller of ${dialect}: whole, streamed, in an error; the retry advice does`, async () => {
      for (const options of [{}, { stream: true }]) {
        const reply = await ask(index, undefined, options);
        assert.equal(reply.status, 200, reply.text);
        assert.deepEqual(shownOf(reply.headers), []);
        assert.ok(reply.headers['x-weir-request-id'] !== undefined);
      }
      const refused = await ask(index, undefined, {
        fault: 'status;status=429;retry-after=7;message=Rate limit reached in organization org-AbC123xyz0 today',
      });
      assert.equal(refused.status, 429, refused.text);
      assert.deepEqual(shownOf(refused.headers), []);
      assert.equal(refused.headers['retry-after'], '7');
      assert.match(refused.text, /in organization org-\[redacted\] today/);
    });
  }

  test('they reach no caller of a model of xAI either', async () => {
    for (const index of [1, 2]) assert.deepEqual(shownOf((await ask(index, 'grok-4')).headers), []);
  });

  test('they reach callers only if the operator lists them, also on translated calls', async () => {
    const requests = ['anthropic-ratelimit-requests-limit', 'anthropic-ratelimit-requests-remaining', 'anthropic-ratelimit-requests-reset'];
    for (const index of [0, 2]) assert.deepEqual(shownOf((await ask(index, 'open-claude')).headers).toSorted(), requests);
    assert.deepEqual(shownOf((await ask(1, 'open-gpt')).headers), ['openai-organization']);
    assert.deepEqual(shownOf((await ask(3, 'open-gpt', { stream: true })).headers), ['openai-organization']);
  });
});
