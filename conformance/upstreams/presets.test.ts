import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { upstreamVendors } from '../../src/upstreams/registry.ts';
import { call, type Answer } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { startSimulatedGateway, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';
import { type PresetService, startPresetService } from './preset-service.ts';

/** Requests of Mistral's and Perplexity's clients that OpenAI refuses. */
const spoken: Readonly<Record<string, object>> = {
  'tool calls without a type': {
    messages: [
      { role: 'user', content: 'Look it up.' },
      { role: 'assistant', content: '', tool_calls: [{ id: 'call_1', function: { name: 'look_up', arguments: '{"word":"weir"}' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'a low dam' },
    ],
    tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }],
  },
  'an image by its address alone': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look:' },
          { type: 'image_url', image_url: 'https://example.com/1.png' },
        ],
      },
    ],
  },
  'a schema without a name': {
    messages: [{ role: 'user', content: 'Answer in JSON.' }],
    response_format: { type: 'json_schema', json_schema: { schema: { type: 'object', properties: {}, additionalProperties: false } } },
  },
};

const bare = [/"tool_calls":\[\{"id":"call_1","function"/, /"image_url":"https/, /"json_schema":\{"schema"/];

/** The presets of services that serve each dialect at an address of its own. */
const placed = Object.entries(upstreamVendors['openai-compatible'].presets ?? {}).filter(([, { addresses }]) => addresses !== undefined);

/** Presets of servers that speak no chats. */
const withoutChats = ['whisper-cpp', 'speaches', 'kokoro', 'jina', 'voyage'];
/** All presets with the dialects that they speak, the usual one first. */
const chatting = Object.entries(upstreamVendors['openai-compatible'].presets ?? {})
  .filter(([preset]) => !withoutChats.includes(preset))
  .map(([preset, { addresses }]) => [preset, addresses?.map(({ dialect }) => dialect) ?? (['openai-chat'] as const)] as const);

/** The key that Weir has for these services. */
const serviceKey = 'sk-service-0123456789abcdef';

describe('presets', () => {
  let running: SimulatedWeir;
  let service: PresetService;
  before(async () => {
    service = await startPresetService(() => running.simulator.addresses, upstreamKey);
    running = await startSimulatedGateway({
      upstreams: ({ openai }) => ({
        mistral: {
          vendor: 'openai-compatible',
          preset: 'mistral',
          baseUrl: openai,
          apiKey: upstreamKey,
          forwardHeaders: ['x-simulator-*'],
        },
        perplexity: {
          vendor: 'openai-compatible',
          preset: 'perplexity',
          baseUrl: openai,
          apiKey: upstreamKey,
          forwardHeaders: ['x-simulator-*'],
        },
        ...Object.fromEntries(
          chatting.map(([preset]) => [
            `any-${preset}`,
            { vendor: 'openai-compatible', preset, baseUrl: `${service.address}/${preset}`, apiKey: serviceKey, discoverModels: false },
          ]),
        ),
        ...Object.fromEntries(
          placed.map(([preset]) => [
            preset,
            { vendor: 'openai-compatible', preset, baseUrl: `${service.address}/${preset}`, apiKey: serviceKey, discoverModels: false },
          ]),
        ),
      }),
      models: {
        ...Object.fromEntries(
          chatting.flatMap(([preset, dialects]) =>
            chatInterfaces.map(({ dialect }) => {
              const spoken = dialects.includes(dialect) ? dialect : dialects[0];
              const model = chatInterfaces.find((each) => each.dialect === spoken)?.model;
              return [`any-${preset}-${dialect}`, { targets: [{ upstream: `any-${preset}`, model }] }];
            }),
          ),
        ),
        ...Object.fromEntries(
          placed.flatMap(([preset, { addresses = [] }]) =>
            chatInterfaces
              .filter(({ dialect }) => addresses.some((address) => address.dialect === dialect))
              .map(({ dialect, model }) => [`${preset}-${dialect}`, { targets: [{ upstream: preset, model }] }]),
          ),
        ),
        mistral: { targets: [{ upstream: 'mistral', model: 'gpt-4.1' }] },
        perplexity: { targets: [{ upstream: 'perplexity', model: 'gpt-4.1' }] },
        strict: { targets: [{ upstream: 'openai', model: 'gpt-4.1' }] },
        messages: { targets: [{ upstream: 'anthropic', model: 'claude-sonnet-4-5' }] },
      },
      config: { structuredOutput: { check: 'off' } },
    });
  });
  after(async () => {
    await running[Symbol.asyncDispose]();
    await service.close();
  });

  for (const [preset, { addresses = [] }] of placed) {
    for (const { dialect, path, keyHeader = dialect === 'anthropic-messages' ? 'x-api-key' : 'authorization' } of addresses) {
      test(`${preset}: a call in ${dialect} passes through below ${path === '' ? 'the root' : path}, with the key in ${keyHeader}`, async () => {
        const api = chatInterfaces.find((each) => each.dialect === dialect);
        assert.ok(api);
        const model = `${preset}-${dialect}`;
        const body = api.body(model, `Hello, ${model}`, false);
        const answer = await call(`${running.weir.gatewayUrl}${api.path(model, false)}`, {
          headers: { ...api.headers, 'content-type': 'application/json', authorization: `Bearer ${running.weir.apiKey}` },
          body: JSON.stringify(body),
        });
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.headers['x-gateway-warning'], undefined, 'nothing was translated');
        const request = service.received().findLast((one) => one.body.includes(`Hello, ${model}`));
        assert.ok(request);
        assert.ok(request.url.startsWith(`/${preset}${path}/`), request.url);
        assert.equal(request.headers[keyHeader], keyHeader === 'authorization' ? `Bearer ${serviceKey}` : serviceKey);
        assert.equal(request.body, JSON.stringify(body).replace(`"model":"${model}"`, `"model":"${api.model}"`));
      });
    }
  }

  for (const [preset, dialects] of chatting)
    for (const api of chatInterfaces) {
      const isSpoken = dialects.includes(api.dialect);
      test(`${preset}: calls in ${api.dialect} ${isSpoken ? 'pass through' : `are translated to ${dialects[0]}`}, whole and as a stream`, async () => {
        for (const streams of [false, true]) {
          const model = `any-${preset}-${api.dialect}`;
          const prompt = `Hello, ${model}, ${streams ? 'in pieces' : 'at once'}`;
          const body = api.body(model, prompt, streams);
          const answer = await call(`${running.weir.gatewayUrl}${api.path(model, streams)}`, {
            headers: { ...api.headers, 'content-type': 'application/json', authorization: `Bearer ${running.weir.apiKey}` },
            body: JSON.stringify(body),
          });
          assert.equal(answer.status, 200, answer.text);
          if (streams) assert.match(answer.text, api.terminal);
          const request = service.received().findLast((one) => one.body.includes(prompt));
          assert.ok(request);
          const used = chatInterfaces.find(({ dialect }) => dialect === (isSpoken ? api.dialect : dialects[0]));
          const ends = used?.path('', streams).replace(/^.*\/(?=messages|responses|chat|[^/]*$)/, '') ?? '';
          assert.ok(request.url.startsWith(`/${preset}`) && request.url.endsWith(ends), request.url);
          const { model: _sent, ...received } = JSON.parse(request.body) as { model?: string };
          const { model: _asked, ...asked } = body as { model?: string };
          if (isSpoken) assert.equal(answer.headers['x-gateway-warning'], undefined);
          if (isSpoken && !streams) assert.deepEqual(received, asked);
        }
      });
    }

  async function ask(model: string, body: object): Promise<{ readonly answer: Answer; readonly received: string }> {
    const tag = `${model} ${Math.random()}`;
    const answer = await call(`${running.weir.gatewayUrl}/v1/chat/completions`, {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${running.weir.apiKey}`, 'x-simulator-tag': tag },
      body: JSON.stringify({ model, ...body }),
    });
    const record = running.simulator.records().findLast((one) => one.tag === tag);
    assert.ok(record, answer.text);
    return { answer, received: JSON.stringify(record.requestBody) };
  }

  for (const [what, body] of Object.entries(spoken)) {
    for (const model of ['mistral', 'perplexity']) {
      test(`${what}: the request reaches ${model} as its clients write it`, async () => {
        const { received } = await ask(model, body);
        assert.deepEqual(JSON.parse(received), { ...body, model: 'gpt-4.1' });
      });
    }

    for (const model of ['strict', 'messages']) {
      test(`${what}: the request is answered by a model of ${model === 'strict' ? 'OpenAI' : 'another interface'}, which gets its own spelling`, async () => {
        const { answer, received } = await ask(model, body);
        assert.equal(answer.status, 200, answer.text);
        for (const spelling of bare) assert.doesNotMatch(received, spelling);
      });
    }
  }
});
