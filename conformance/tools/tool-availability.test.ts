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
describe('a tool that nobody can run', () => {
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

  test('is an error that says what the operator has to configure, where it is what the request is about', async () => {
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

  test('is left out and named, where an agent program offers it beside its own tools', async () => {
    const body = { model: 'chat', input: 'Hi', tools: [{ type: 'web_search' as const }, lookUp] };
    const { data, response } = await client.responses.create(body, saying('Hello')).withResponse();
    assert.equal(data.output_text, 'Hello');
    assert.match(response.headers.get('x-gateway-warning') ?? '', /dropped tools\[0\]/);
  });

  test('is an error all the same where the operator wants the gateway to run it', async () => {
    await assert.rejects(client.responses.create({ model: 'strictly', input: 'Hi', tools: [{ type: 'web_search' }, lookUp] }), refused);
  });

  test('and one that is switched off is refused', async () => {
    await assert.rejects(
      client.responses.create({ model: 'strictly', input: 'Hi', tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }),
      (error) => error instanceof OpenAI.BadRequestError && /switched off/.test(error.message),
    );
  });
});
