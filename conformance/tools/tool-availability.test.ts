import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { chatOnly, models } from '../responses/models.ts';
import { saying } from '../sdk/steer.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';

const lookUp = {
  type: 'function' as const,
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
  strict: true,
};

/** A gateway without a search service, and a model whose upstream has no search either. */
describe('an unavailable tool', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  before(async () => {
    running = await startSimulatedGateway({
      models: {
        ...models,
        strictly: { targets: [{ upstream: 'chat-only', model: 'gpt-4.1' }], tools: { webSearch: 'gateway', codeExecution: 'off' } },
      },
      upstreams: ({ openai }) => chatOnly(openai),
    });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());

  const refused = (error: unknown): boolean =>
    error instanceof OpenAI.BadRequestError && error.code === 'tool_unavailable' && /tools\.webSearch\.provider/.test(error.message);

  test('it is an error that names the missing configuration if the request is about it', async () => {
    await assert.rejects(client.responses.create({ model: 'chat', input: 'Who won?', tools: [{ type: 'web_search' }] }), refused);
    await assert.rejects(
      client.responses.create({
        model: 'chat',
        input: 'Who won?',
        tools: [{ type: 'web_search' }, lookUp],
        tool_choice: { type: 'web_search_preview' },
      }),
      refused,
    );
  });

  test('it is omitted with a warning if an agent program offers it beside its own tools', async () => {
    const body = { model: 'chat', input: 'Hi', tools: [{ type: 'web_search' as const }, lookUp] };
    const { data, response } = await client.responses.create(body, saying('Hello')).withResponse();
    assert.equal(data.output_text, 'Hello');
    assert.match(response.headers.get('x-gateway-warning') ?? '', /dropped tools\[0\]/);
  });

  test('it is always an error if the operator wants the gateway to run it', async () => {
    await assert.rejects(client.responses.create({ model: 'strictly', input: 'Hi', tools: [{ type: 'web_search' }, lookUp] }), refused);
  });

  test('a disabled tool is refused', async () => {
    await assert.rejects(
      client.responses.create({ model: 'strictly', input: 'Hi', tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }),
      (error) => error instanceof OpenAI.BadRequestError && /switched off/.test(error.message),
    );
  });
});
