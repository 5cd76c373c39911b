import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { pixelPng, saying, steer } from '../sdk/steer.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { chatOnly, modelNames, models } from './models.ts';

const weatherTool = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'], additionalProperties: false },
  strict: true,
};

/** The cases that are used to compare servers of this interface, against an upstream of each dialect. */
describe('Open Responses', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  before(async () => {
    running = await startSimulatedGateway({ models, upstreams: ({ openai }) => chatOnly(openai) });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());

  for (const model of modelNames) {
    describe(`upstream: ${model}`, () => {
      test('basic text is answered', async () => {
        const input = [{ type: 'message' as const, role: 'user' as const, content: 'Say hello in exactly 3 words.' }];
        const response = await client.responses.create({ model, input }, saying('Hello dear world.'));
        assert.equal(response.object, 'response');
        assert.equal(response.status, 'completed');
        assert.equal(response.output_text, 'Hello dear world.');
        assert.ok(response.id.startsWith('resp_'));
        assert.equal(response.error, null);
        assert.ok((response.usage?.total_tokens ?? 0) > 0);
      });

      test('streaming', async () => {
        const stream = await client.responses.create({ model, input: 'Count from 1 to 5.', stream: true }, saying('1, 2, 3, 4, 5'));
        const types: string[] = [];
        let text = '';
        let last: OpenAI.Responses.ResponseStreamEvent | undefined;
        for await (const event of stream) {
          assert.equal(event.sequence_number, types.length, 'sequence numbers without a gap');
          types.push(event.type);
          if (event.type === 'response.output_text.delta') text += event.delta;
          last = event;
        }
        assert.deepEqual(types.slice(0, 2), ['response.created', 'response.in_progress']);
        assert.equal(text, '1, 2, 3, 4, 5');
        assert.ok(last?.type === 'response.completed');
        assert.equal(last.response.status, 'completed');
        assert.equal(last.response.output[0]?.type, 'message');
      });

      test('a system prompt is applied', async () => {
        const response = await client.responses.create(
          {
            model,
            input: [
              { type: 'message', role: 'system', content: 'You are a pirate.' },
              { type: 'message', role: 'user', content: 'Say hello.' },
            ],
          },
          saying('Ahoy!', { tag: `system-${model}` }),
        );
        assert.equal(response.output_text, 'Ahoy!');
        const sent = running.simulator.records().find(({ tag }) => tag === `system-${model}`);
        assert.match(JSON.stringify(sent?.requestBody), /You are a pirate\./);
      });

      test('a tool is called', async () => {
        const response = await client.responses.create(
          { model, input: "What's the weather in San Francisco?", tools: [weatherTool] },
          steer({ 'tool-name': 'get_weather', 'tool-arguments': encodeURIComponent('{"location":"San Francisco"}') }),
        );
        const [call] = response.output.filter((item) => item.type === 'function_call');
        assert.ok(call);
        assert.equal(call.name, 'get_weather');
        assert.deepEqual(JSON.parse(call.arguments), { location: 'San Francisco' });
      });

      test('an image is accepted as input', async () => {
        const response = await client.responses.create(
          {
            model,
            input: [
              {
                role: 'user',
                content: [
                  { type: 'input_text', text: 'What do you see?' },
                  { type: 'input_image', image_url: `data:image/png;base64,${pixelPng}`, detail: 'auto' },
                ],
              },
            ],
          },
          saying('A red pixel.'),
        );
        assert.equal(response.output_text, 'A red pixel.');
      });

      test('multi-turn', async () => {
        const response = await client.responses.create(
          {
            model,
            input: [
              { type: 'message', role: 'user', content: 'My name is Alice.' },
              { type: 'message', role: 'assistant', content: 'Hello Alice!' },
              { type: 'message', role: 'user', content: 'What is my name?' },
            ],
          },
          saying('Alice.', { tag: `turns-${model}` }),
        );
        assert.equal(response.output_text, 'Alice.');
        const sent = JSON.stringify(running.simulator.records().find(({ tag }) => tag === `turns-${model}`)?.requestBody);
        assert.match(sent, /My name is Alice\..*Hello Alice!.*What is my name\?/);
      });

      test('previous_response_id', async () => {
        const first = await client.responses.create({ model, input: 'My name is Bob.' }, saying('Hello Bob!'));
        const second = await client.responses.create(
          { model, input: 'What is my name?', previous_response_id: first.id },
          saying('Bob.', { tag: `chain-${model}` }),
        );
        assert.equal(second.previous_response_id, first.id);
        assert.equal(second.output_text, 'Bob.');
        const sent = JSON.stringify(running.simulator.records().find(({ tag }) => tag === `chain-${model}`)?.requestBody);
        // The vendor of this interface has the first turn itself; every other receives it.
        if (model === 'responses') assert.match(sent, new RegExp(`"previous_response_id":"${first.id}"`));
        else assert.match(sent, /My name is Bob\..*Hello Bob!.*What is my name\?/);
      });
    });
  }
});
