import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { saying, steer } from '../sdk/steer.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { chatOnly, modelNames, models, modelTargets } from './models.ts';

const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'], additionalProperties: false };
const text = { format: { type: 'json_schema' as const, name: 'person', strict: true, schema } };

describe('strict schemas', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  const requestsOf = (wanted: string): number => running.simulator.records().filter(({ tag }) => tag === wanted).length;
  before(async () => {
    running = await startSimulatedGateway({
      models: {
        ...models,
        ...Object.fromEntries(
          modelNames.map((name) => [`repaired-${name}`, { targets: [modelTargets[name]], structuredOutput: { check: 'repair' } }]),
        ),
        ...Object.fromEntries(
          modelNames.map((name) => [`reported-${name}`, { targets: [modelTargets[name]], structuredOutput: { check: 'report' } }]),
        ),
        without: { targets: [{ upstream: 'without-schemas', model: 'gpt-4.1' }] },
        unchecked: { targets: [modelTargets.chat], structuredOutput: { check: 'off' } },
      },
      upstreams: ({ openai }) => {
        const chat = chatOnly(openai);
        return { ...chat, 'without-schemas': { ...chat['chat-only'], quirks: { structuredOutput: false } } };
      },
    });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());

  for (const name of modelNames) {
    test(`${name}: a matching reply is delivered, whole and streamed, and can be continued`, async () => {
      const model = `repaired-${name}`;
      const whole = await client.responses.create({ model, input: 'How old?', text }, saying('{"age":36}', { tag: `fits-${name}` }));
      assert.equal(whole.output_text, '{"age":36}');
      assert.equal(requestsOf(`fits-${name}`), 1);
      const stream = client.responses.stream({ model, input: 'And now?', text, previous_response_id: whole.id }, saying('{"age":37}'));
      assert.equal((await stream.finalResponse()).output_text, '{"age":37}');
    });

    for (const stream of [false, true]) {
      test(`${name}, ${stream ? 'streamed' : 'whole'}: a reply that never matches is requested twice, or once, and is then an error`, async () => {
        for (const [kind, times] of [
          ['repaired', 2],
          ['reported', 1],
        ] as const) {
          const tag = `${kind}-${name}-${stream}`;
          const body = { model: `${kind}-${name}`, input: 'How old?', text, stream };
          await assert.rejects(
            client.responses.create(body, saying('{"age":"old"}', { tag })),
            (error: InstanceType<typeof OpenAI.APIError>) => {
              assert.equal(error.status, 502);
              assert.match(error.message, /age: must be integer/);
              return true;
            },
          );
          assert.equal(requestsOf(tag), times);
        }
      });
    }
  }

  for (const name of ['messages', 'responses', 'generate-content'] as const) {
    test(`${name}: a reply to a call whose vendor runs all of its tools is checked as well`, async () => {
      const tag = `searched-${name}`;
      const body = { model: `repaired-${name}`, input: 'How old?', text, tools: [{ type: 'web_search' as const }] };
      await assert.rejects(client.responses.create(body, saying('{"age":"old"}', { tag })), { status: 502 });
      assert.equal(requestsOf(tag), 2);
    });
  }

  test('by default the reply is checked if a forced tool replaces the schema, and not if the upstream supports schemas', async () => {
    const wrong = steer({ 'tool-arguments': encodeURIComponent('{"age":"old"}'), tag: 'stood-in' });
    await assert.rejects(client.responses.create({ model: 'without', input: 'How old?', text }, wrong), { status: 502 });
    assert.equal(requestsOf('stood-in'), 2);
    for (const model of [...modelNames, 'unchecked']) {
      const reply = await client.responses.create({ model, input: 'How old?', text }, saying('{"age":"old"}'));
      assert.equal(reply.status, 'completed', model);
    }
  });
});

/** C19: JSON of any form is a promise too. By default it is checked if the upstream does not guarantee an object. */
describe('text.format of type json_object', () => {
  const broken = '{"age": 36';
  const anyJson = { format: { type: 'json_object' as const } };
  let running: SimulatedWeir;
  let client: OpenAI;
  const requestsOf = (wanted: string): number => running.simulator.records().filter(({ tag }) => tag === wanted).length;
  before(async () => {
    running = await startSimulatedGateway({
      models: {
        ...models,
        ...Object.fromEntries(
          modelNames.map((name) => [`repaired-${name}`, { targets: [modelTargets[name]], structuredOutput: { check: 'repair' } }]),
        ),
      },
      upstreams: ({ openai }) => chatOnly(openai),
    });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());

  for (const model of ['messages', 'generate-content', ...modelNames.map((name) => `repaired-${name}`)]) {
    for (const [what, wrong] of [
      ['broken JSON', broken],
      ['JSON that is no object', '[36]'],
    ] as const) {
      test(`${model}: ${what} is requested again, and only the repaired answer is shown, whole and streamed`, async () => {
        const repaired = { 'then-text': encodeURIComponent('{"age":36}') };
        const body = { model, input: 'How old? Answer in JSON.', text: anyJson };
        const whole = await client.responses.create(body, saying(wrong, { ...repaired, tag: `whole-${model}-${what}` }));
        assert.equal(whole.output_text, '{"age":36}');
        assert.equal(requestsOf(`whole-${model}-${what}`), 2);
        const stream = client.responses.stream(body, saying(wrong, { ...repaired, tag: `stream-${model}-${what}` }));
        let shown = '';
        stream.on('response.output_text.delta', ({ delta }) => (shown += delta));
        assert.equal((await stream.finalResponse()).output_text, '{"age":36}');
        assert.equal(shown, '{"age":36}');
        assert.equal(requestsOf(`stream-${model}-${what}`), 2);
      });
    }

    test(`${model}: an answer that is never JSON is an error with that reason`, async () => {
      const steering = saying(broken, { tag: `never-${model}` });
      const body = { model, input: 'How old? Answer in JSON.', text: anyJson };
      await assert.rejects(client.responses.create(body, steering), (error: InstanceType<typeof OpenAI.APIError>) => {
        assert.equal(error.status, 502);
        assert.match(error.message, /does not fit the JSON schema/);
        return true;
      });
      assert.equal(requestsOf(`never-${model}`), 2);
    });
  }
});
