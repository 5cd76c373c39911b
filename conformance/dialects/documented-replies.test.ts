import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { saying, steer } from '../sdk/steer.ts';
import { post } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';

const start = (validation: 'documented' | 'compatible'): Promise<SimulatedWeir> => startSimulatedGateway({ config: { validation } });

describe('replies of Messages that pass through', () => {
  let documented: SimulatedWeir;
  let compatible: SimulatedWeir;
  before(async () => {
    [documented, compatible] = await Promise.all([start('documented'), start('compatible')]);
  });
  after(() => Promise.all([documented[Symbol.asyncDispose](), compatible[Symbol.asyncDispose]()]));

  const ask = ({ weir }: SimulatedWeir, more: object, headers: Readonly<Record<string, string>>) =>
    post(
      `${weir.gatewayUrl}/v1/messages`,
      { model: 'claude-sonnet-4-5', max_tokens: 2000, messages: [{ role: 'user', content: 'Hello' }], ...more },
      { 'x-api-key': weir.apiKey, 'anthropic-version': '2023-06-01', ...headers },
    );

  for (const [status, type, code] of [
    [400, 'invalid_request_error', 'upstream_refused_request'],
    [429, 'rate_limit_error', 'upstream_rate_limited'],
    [500, 'server_error', 'upstream_error'],
  ] as const) {
    test(`documented: an error with status ${status} has the contract's type and code; compatible: it is unchanged`, async () => {
      const fault = steer({ fault: `status;status=${status}` }).headers;
      const told = await ask(documented, {}, fault);
      assert.deepEqual([told.status, told.json.error.type, told.json.error.code], [status, type, code], told.text);
      assert.notEqual(told.json.error.message, '');
      const vendors = await ask(compatible, {}, fault);
      assert.equal(vendors.status, status);
      assert.equal('code' in vendors.json.error, false, vendors.text);
      if (status === 500) assert.equal(vendors.json.error.type, 'api_error');
    });
  }

  test('documented: the last delta of a stream has usage inside and beside; compatible: only beside', async () => {
    const lastDelta = (text: string) => JSON.parse(/^data: (.*"message_delta".*)$/m.exec(text)?.[1] ?? '{}');
    const told = lastDelta((await ask(documented, { stream: true }, saying('Fine.').headers)).text);
    assert.ok(told.usage.output_tokens > 0);
    assert.deepEqual(told.delta.usage, { input_tokens: told.usage.input_tokens, output_tokens: told.usage.output_tokens });
    assert.equal(told.delta.stop_reason, 'end_turn');
    const vendors = lastDelta((await ask(compatible, { stream: true }, saying('Fine.').headers)).text);
    assert.equal('usage' in vendors.delta, false);
  });

  test('documented: an error in the middle of a stream has a code', async () => {
    const broken = await ask(
      documented,
      { stream: true },
      steer({ fault: 'error-event;after=3', 'output-tokens': 40, pace: 'tokensPerFrame=1' }).headers,
    );
    const event = JSON.parse(/^event: error\ndata: (.*)$/m.exec(broken.text)?.[1] ?? '{}');
    assert.match(event.error.code, /^upstream_/);
  });

  test('documented: unchanged thoughts are accepted in the next turn', async () => {
    const thinking = { thinking: { type: 'enabled', budget_tokens: 1024 } };
    const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } }];
    const first = await ask(documented, { ...thinking, tools }, steer({ 'tool-calls': 1 }).headers);
    assert.equal(first.status, 200, first.text);
    const { content } = first.json;
    assert.equal(content[0].type, 'thinking');
    const call = content.find(({ type }: any) => type === 'tool_use');
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'seen' }] },
    ];
    const second = await ask(documented, { ...thinking, tools, messages }, saying('Fine.').headers);
    assert.equal(second.status, 200, second.text);
    const damaged = [messages[0], { role: 'assistant', content: [{ type: 'thinking', thinking: 'x' }] }];
    assert.equal((await ask(documented, { ...thinking, tools, messages: damaged }, {})).status, 400);
  });
});
