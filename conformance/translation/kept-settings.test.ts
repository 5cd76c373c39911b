import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { saying, steer } from '../sdk/steer.ts';
import { post } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';

/** Upstreams that stop at a sequence without reporting it, and that cannot switch off parallel calls. */
const silent = ['chat', 'generate-content'] as const;
const targets = {
  chat: { upstream: 'chat-only', model: 'gpt-4.1' },
  'generate-content': { upstream: 'gemini', model: 'gemini-2.5-flash-lite' },
  messages: { upstream: 'anthropic', model: 'claude-sonnet-4-5' },
};
const tool = (name: string) => ({ name, input_schema: { type: 'object', properties: {} } });

describe('settings that an upstream does not enforce', () => {
  let running: SimulatedWeir;
  before(async () => {
    const server = { vendor: 'openai-compatible', apiKey: upstreamKey, dialects: ['openai-chat'], forwardHeaders: ['x-simulator-*'] };
    const entries = Object.entries(targets).flatMap(([name, target]) => [
      [name, { targets: [target] }],
      [`cut-${name}`, { targets: [target], stopSequences: 'gateway' }],
    ]);
    running = await startSimulatedGateway({
      upstreams: ({ openai }) => ({ 'chat-only': { ...server, baseUrl: openai, quirks: { parallelToolCallsField: false } } }),
      models: Object.fromEntries(entries),
    });
  });
  after(() => running[Symbol.asyncDispose]());

  const ask = (path: string, body: object, headers: Readonly<Record<string, string>>) =>
    post(running.weir.gatewayUrl + path, body, {
      authorization: `Bearer ${running.weir.apiKey}`,
      'anthropic-version': '2023-06-01',
      ...headers,
    });
  const message = (model: string, more: object = {}) => ({
    model,
    max_tokens: 500,
    messages: [{ role: 'user', content: 'Hello' }],
    ...more,
  });
  const sentFor = (wanted: string) => JSON.stringify(running.simulator.records().findLast(({ tag }) => tag === wanted)?.requestBody);
  const text = 'One two STOPHERE three four';
  const stop = { stop_sequences: ['NEVER', 'STOPHERE'] };

  for (const name of silent) {
    test(`${name}: a stop sequence is passed on by default, the upstream's stop reason is returned, and the uncertainty is named`, async () => {
      const tag = `sent-${name}`;
      const answer = await ask('/v1/messages', message(name, stop), saying(text, { tag, pace: 'tokensPerFrame=1' }).headers);
      assert.deepEqual([answer.json.content[0].text, answer.json.stop_reason, answer.json.stop_sequence], ['One two ', 'end_turn', null]);
      assert.match(String(answer.headers['x-gateway-warning']), /adapted stop_sequences \(.*may not report it/);
      assert.match(sentFor(tag), /STOPHERE/);
    });

    for (const stream of [false, true]) {
      test(`${name}: with stopSequences: gateway the reply is cut exactly there and the sequence is named, ${stream ? 'streamed' : 'whole'}`, async () => {
        const tag = `cut-${name}-${stream}`;
        const body = message(`cut-${name}`, { ...stop, stream });
        const answer = await ask('/v1/messages', body, saying(text, { tag, pace: 'tokensPerFrame=1' }).headers);
        assert.equal(answer.status, 200, answer.text);
        assert.doesNotMatch(answer.text, /STOPHERE three|three four/);
        assert.match(answer.text, /"stop_reason":"stop_sequence","stop_sequence":"STOPHERE"/);
        assert.match(String(answer.headers['x-gateway-warning']), /emulated stop_sequences/);
        assert.doesNotMatch(sentFor(tag), /STOPHERE/, 'an upstream that stops first could not be distinguished from one that ended');
      });
    }

    test(`${name}: of several calls in one reply only the first is passed on if the client permits one at a time`, async () => {
      const tools = { tools: [tool('look'), tool('go')], tool_choice: { type: 'auto', disable_parallel_tool_use: true } };
      for (const stream of [false, true]) {
        const answer = await ask('/v1/messages', message(name, { ...tools, stream }), steer({ 'tool-calls': 3 }).headers);
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.text.match(/"type":"tool_use"/g)?.length, 1, answer.text);
        assert.match(answer.text, /"stop_reason":"tool_use"/);
        assert.match(String(answer.headers['x-gateway-warning']), /emulated tool_choice.disable_parallel_tool_use/);
      }
      const all = await ask('/v1/messages', message(name, { tools: tools.tools }), steer({ 'tool-calls': 3 }).headers);
      assert.equal(all.text.match(/"type":"tool_use"/g)?.length, 3, 'by default all calls are passed on');
    });

    test(`${name}: parallel_tool_calls: false of a Responses client has the same effect`, async () => {
      const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} }, strict: false }];
      const body = { model: name, input: 'Hello', tools, parallel_tool_calls: false, store: false };
      const answer = await ask('/v1/responses', body, steer({ 'tool-calls': 3 }).headers);
      assert.equal(answer.json.output.filter(({ type }: any) => type === 'function_call').length, 1, answer.text);
    });

    test(`${name}: a screen is used once in a reply, beside other calls`, async () => {
      const computer = { type: 'computer_20241022', name: 'computer', display_width_px: 800, display_height_px: 600 };
      const answer = await ask('/v1/messages', message(name, { tools: [computer] }), steer({ 'tool-calls': 3 }).headers);
      assert.equal(answer.text.match(/"name":"computer"/g)?.length, 1, answer.text);
    });
  }

  test('the sequence that a vendor names reaches the client with any setting of the model', async () => {
    const answer = await ask('/v1/messages', message('cut-messages', stop), saying(text, { tag: 'native' }).headers);
    assert.deepEqual([answer.json.stop_reason, answer.json.stop_sequence], ['stop_sequence', 'STOPHERE']);
    assert.match(sentFor('native'), /STOPHERE/);
  });

  test('the client gets the used tier in its own format, not the requested one', async () => {
    const firstReply = await ask('/v1/responses', { model: 'messages', input: 'Hello', service_tier: 'flex', store: false }, {});
    assert.equal(firstReply.json.service_tier, 'default', 'the vendor of this model does not have the tier and says so');
    const told = await ask('/v1/messages', message('chat'), {});
    assert.equal(told.json.usage.service_tier, 'standard');
    const streamed = await ask('/v1/messages', message('chat', { stream: true }), {});
    assert.match(streamed.text, /"service_tier":"standard"/);
  });
});
