import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { objectsOf, textOf } from '../../src/platform/json/json-readers.ts';
import { saying } from '../sdk/steer.ts';
import { call, post } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';

const text = 'Read https://example.com/weir and search for more.';
const parameters = { type: 'object', properties: {} };

/** All four kinds of tools, in the request of each interface. */
const request: Readonly<Record<string, { readonly path: string; readonly body: object; readonly alone: object }>> = {
  'generate content': {
    path: '/v1beta/models/gpt:generateContent',
    body: {
      contents: [{ parts: [{ text }] }],
      tools: [{ functionDeclarations: [{ name: 'look_up' }] }, { googleSearch: {} }, { codeExecution: {} }, { urlContext: {} }],
    },
    alone: { contents: [{ parts: [{ text }] }], tools: [{ googleSearch: {} }, { codeExecution: {} }, { urlContext: {} }] },
  },
  Messages: {
    path: '/v1/messages',
    body: {
      model: 'gpt',
      max_tokens: 1000,
      messages: [{ role: 'user', content: text }],
      tools: [
        { name: 'look_up', input_schema: parameters },
        { type: 'web_search_20250305', name: 'web_search' },
        { type: 'code_execution_20250825', name: 'code_execution' },
        { type: 'web_fetch_20250910', name: 'web_fetch' },
      ],
    },
    alone: {
      model: 'gpt',
      max_tokens: 1000,
      messages: [{ role: 'user', content: text }],
      tools: [
        { type: 'web_search_20250305', name: 'web_search' },
        { type: 'code_execution_20250825', name: 'code_execution' },
        { type: 'web_fetch_20250910', name: 'web_fetch' },
      ],
    },
  },
};

/** A vendor that searches, runs code and cannot read pages, and a gateway without a search service. */
describe('tools of which the vendor runs some', () => {
  let running: SimulatedWeir;
  before(async () => {
    const claude = { targets: [{ upstream: 'anthropic', model: 'claude-sonnet-4-5' }] };
    running = await startSimulatedGateway({ models: { gpt: { targets: [{ upstream: 'openai', model: 'gpt-5.4' }] }, claude } });
  });
  after(() => running[Symbol.asyncDispose]());

  async function offered(path: string, body: object, tag: string): Promise<readonly string[]> {
    const answer = await call(running.weir.gatewayUrl + path, {
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${running.weir.apiKey}`,
        'anthropic-version': '2023-06-01',
        'x-simulator-tag': tag,
      },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers['x-gateway-warning'], undefined, 'nothing was omitted');
    const record = running.simulator.records().find((one) => one.tag === tag);
    return objectsOf(record?.requestBody?.['tools']).map(({ type, name }) => textOf(name) ?? textOf(type) ?? '');
  }

  for (const [what, { path, body, alone }] of Object.entries(request)) {
    test(`the vendor's tools stay with the vendor, beside functions, for a client of ${what}`, async () => {
      assert.deepEqual((await offered(path, body, `${what} beside`)).toSorted(), [
        'code_interpreter',
        'fetch_url',
        'look_up',
        'web_search',
      ]);
    });
    test(`the vendor's tools stay with the vendor, without functions, for a client of ${what}`, async () => {
      assert.deepEqual((await offered(path, alone, `${what} alone`)).toSorted(), ['code_interpreter', 'fetch_url', 'web_search']);
    });
  }

  const functionCallingConfig = { mode: 'ANY' };
  for (const [model, wanted] of [
    ['gpt', 'required'],
    ['claude', { type: 'any' }],
  ] as const) {
    test(`a warning says that a search of ${model} may replace a forced function call of generate content`, async () => {
      const ask = async (functions: object, tag: string) => {
        const contents = [{ role: 'user', parts: [{ text }] }];
        const answer = await post(
          `${running.weir.gatewayUrl}/v1beta/models/${model}:generateContent`,
          { contents, ...functions, toolConfig: { functionCallingConfig } },
          { authorization: `Bearer ${running.weir.apiKey}`, 'x-simulator-tag': tag },
        );
        assert.equal(answer.status, 200, answer.text);
        const record = running.simulator.records().find((one) => one.tag === tag);
        assert.deepEqual(record?.requestBody?.['tool_choice'], wanted);
        return answer.headers['x-gateway-warning'];
      };
      const functionDeclarations = [{ name: 'look_up' }];
      assert.match(
        String(await ask({ tools: [{ functionDeclarations }, { googleSearch: {} }] }, `${model} forced`)),
        /adapted toolConfig\.functionCallingConfig/,
      );
      assert.equal(await ask({ tools: [{ functionDeclarations }] }, `${model} forced alone`), undefined);
    });
  }

  test('a search of the vendor stays optional beside a choice of functions, for a client of generate content', async () => {
    const body = {
      contents: [{ role: 'user', parts: [{ text }] }],
      tools: [{ functionDeclarations: [{ name: 'look_up' }, { name: 'look_down' }] }, { googleSearch: {} }],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['look_up'] } },
    };
    const headers = { authorization: `Bearer ${running.weir.apiKey}`, ...saying('Found.', { tag: 'free' }).headers };
    const answer = await post(`${running.weir.gatewayUrl}/v1beta/models/gpt:generateContent`, body, headers);
    assert.equal(answer.status, 200, answer.text);
    const record = running.simulator.records().find(({ tag }) => tag === 'free');
    const tools = [{ type: 'function', name: 'look_up' }, { type: 'web_search' }];
    assert.deepEqual(record?.requestBody?.['tool_choice'], { type: 'allowed_tools', mode: 'auto', tools });
    assert.ok(objectsOf(answer.json.candidates)[0]?.['groundingMetadata'], 'the vendor has searched');
  });
});
