import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { eventually, post } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';
import { vendorUpstreams } from './benches.ts';
import { oddRequests } from './odd-requests.ts';

const upstreamModels: Readonly<Record<string, string>> = {
  anthropic: 'claude-sonnet-4-5',
  responses: 'gpt-5-mini',
  chat: 'gpt-4.1',
  gemini: 'gemini-2.5-flash',
};

/** How the streams of each interface end. */
const terminals: Readonly<Record<string, RegExp>> = {
  'anthropic-messages': /"type":\s*"message_stop"/,
  'openai-responses': /^event: response\.(?:completed|incomplete)/m,
  'openai-chat': /^data: \[DONE\]/m,
  'gemini-generate-content': /"finishReason"/,
};

/** Headers that only one vendor understands. */
const vendorHeaders = ['anthropic-beta', 'anthropic-version', 'x-app', 'x-claude-code-session-id', 'x-codex-beta-features', 'originator'];

/**
 * Recorded requests of agent programs, to their own vendor and to every other. No program is stopped, and each loss is
 * named.
 */
describe('requests of agent programs', () => {
  let running: SimulatedWeir;
  before(async () => {
    const own = { apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] };
    running = await startSimulatedGateway({
      models: Object.fromEntries(
        vendorUpstreams.map(({ name }) => [`on-${name}`, { targets: [{ upstream: name, model: upstreamModels[name] }] }]),
      ),
      upstreams: ({ openai }) => ({
        responses: { vendor: 'openai', baseUrl: openai, dialects: ['openai-responses'], ...own },
        chat: { vendor: 'openai-compatible', baseUrl: openai, ...own },
      }),
      // The gateway's search is offered to an upstream that cannot search; no request here uses it.
      config: { tools: { webSearch: { provider: 'searxng', baseUrl: 'http://search.invalid' } } },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  for (const upstream of vendorUpstreams) {
    describe(`on ${upstream.title}`, () => {
      for (const [index, request] of oddRequests.entries()) {
        test(request.title, async () => {
          const model = `on-${upstream.name}`;
          const tag = `${upstream.name}-${index}`;
          const sent = request.body(model);
          const path = request.path(model);
          const answer = await post(`${running.weir.gatewayUrl}${path}`, sent, {
            authorization: `Bearer ${running.weir.apiKey}`,
            'x-simulator-tag': tag,
            ...request.headers,
          });
          assert.equal(answer.status, 200, answer.text);
          if (sent['stream'] === true || path.includes('stream')) assert.match(answer.text, terminals[request.dialect] ?? /^$/);
          // The gateway learns a moment later that its reply is over.
          const truth = await eventually(
            () => running.simulator.records().find((record) => record.tag === tag),
            (record) => record?.ending !== 'open',
          );
          assert.ok(truth, 'the request reached the upstream');
          assert.deepEqual([truth.status, truth.ending], [200, 'completed']);
          const isForeign = request.dialect !== upstream.dialect;
          const warning = String(answer.headers['x-gateway-warning'] ?? '');
          const expected = isForeign ? request.warns?.[upstream.dialect] : undefined;
          if (expected === undefined) assert.equal(warning, '');
          else assert.match(warning, expected);
          const arrived = JSON.stringify(truth.requestBody);
          assert.match(arrived, request.arrives?.[upstream.dialect] ?? /./);
          if (!isForeign) assert.equal(truth.requestHeaders['anthropic-beta'], request.headers?.['anthropic-beta']);
          else
            for (const name of vendorHeaders) if (name !== 'anthropic-version') assert.equal(truth.requestHeaders[name], undefined, name);
        });
      }
    });
  }
});
