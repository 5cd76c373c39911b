import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { saying, steer } from '../sdk/steer.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { modelTargets } from './models.ts';

/** Upstreams of every dialect with a window of 2,000 tokens. */
const small = { contextTokensMax: 2000 };
const key = { apiKey: 'sk-upstream-0123456789abcdef', forwardHeaders: ['x-simulator-*'] };
const smallUpstreams = (addresses: Readonly<Record<'anthropic' | 'openai' | 'gemini', string>>) => ({
  'small-messages': { vendor: 'anthropic' as const, baseUrl: addresses.anthropic, ...key, quirks: small },
  'small-responses': { vendor: 'openai' as const, baseUrl: addresses.openai, ...key, quirks: small },
  'small-chat': { vendor: 'openai-compatible' as const, baseUrl: addresses.openai, ...key, dialects: ['openai-chat'], quirks: small },
  'small-generate-content': { vendor: 'gemini' as const, baseUrl: addresses.gemini, ...key, quirks: small },
  'unknown-window': { vendor: 'openai-compatible' as const, baseUrl: addresses.openai, ...key, dialects: ['openai-chat'] },
});
const names = ['messages', 'responses', 'chat', 'generate-content'] as const;
const modelOf = { ...modelTargets, chat: { model: 'gpt-4.1' } };

/** About 300 tokens of prose. */
const prose = (about: string): string =>
  Array.from({ length: 60 }, (_, at) => `The ${about} story has line ${at} here.`)
    .join(' ')
    .slice(0, 1200);
const said = (role: 'user' | 'assistant', text: string) => ({ role, content: text });
const longTalk = [
  said('user', 'FIRST question.'),
  ...Array.from({ length: 8 }, (_, at) => [
    said('assistant', prose(`old${at}`)),
    { type: 'function_call' as const, call_id: `call_${at}`, name: 'look', arguments: '{}' },
    { type: 'function_call_output' as const, call_id: `call_${at}`, output: prose(`result${at}`) },
  ]).flat(),
  said('user', 'LAST question.'),
];
const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object', properties: {} }, strict: false }];

describe('truncation', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  const sentFor = (wanted: string): readonly string[] =>
    running.simulator
      .records()
      .filter(({ tag }) => tag === wanted)
      .map(({ requestBody }) => JSON.stringify(requestBody));
  before(async () => {
    const target = (name: (typeof names)[number]) => ({ upstream: `small-${name}`, model: modelOf[name].model });
    running = await startSimulatedGateway({
      models: {
        ...Object.fromEntries(names.map((name) => [name, { targets: [target(name)], responseState: 'gateway' }])),
        native: { targets: [target('responses')] },
        unknown: { targets: [{ upstream: 'unknown-window', model: 'gpt-4.1' }] },
        'small-then-large': { targets: [target('messages'), { upstream: 'anthropic', model: 'claude-sonnet-4-5' }] },
      },
      upstreams: smallUpstreams,
      retries: {},
    });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());

  for (const model of names) {
    test(`auto with ${model}: the middle is removed, calls together with their results, and the client is notified`, async () => {
      const tag = `cut-${model}`;
      const { data, response } = await client.responses
        .create({ model, input: longTalk, tools, truncation: 'auto' }, saying('Fine.', { tag }))
        .withResponse();
      assert.equal(data.output_text, 'Fine.');
      assert.equal(data.truncation, 'auto');
      const [sent = ''] = sentFor(tag);
      assert.match(sent, /FIRST question/);
      assert.match(sent, /LAST question/);
      assert.doesNotMatch(sent, /result0|old0|call_0/);
      // Generate-content names its calls by function, so there is nothing to count by.
      for (let at = 0; at < 8 && model !== 'generate-content'; at++) {
        assert.equal(sent.includes(`The result${at} `), sent.includes(`"call_${at}`), `call ${at}`);
      }
      assert.match(response.headers.get('x-gateway-warning') ?? '', /adapted input \(\d+ items were removed from the middle by truncation/);
      const kept = await client.responses.inputItems.list(data.id, { limit: 100 });
      assert.equal(kept.data.length, longTalk.length, 'the stored response is complete');
    });

    test(`disabled with ${model}: a request that is certainly too long is refused before anything is sent`, async () => {
      const tag = `refused-${model}`;
      const text = Array.from({ length: 30 }, (_, at) => prose(`volume${at}`)).join(' ');
      const asking = client.responses.create({ model, input: text }, saying('Fine.', { tag }));
      await assert.rejects(asking, (error: InstanceType<typeof OpenAI.APIError>) => {
        assert.deepEqual([error.status, error.code, error.param], [400, 'context_length_exceeded', 'input']);
        assert.match(error.message, /2000/);
        return true;
      });
      assert.deepEqual(sentFor(tag), []);
    });

    test(`disabled with ${model}: the vendor's own refusal is mapped`, async () => {
      const asking = client.responses.create({ model, input: 'Short.' }, steer({ fault: 'context-overflow' }));
      await assert.rejects(asking, { status: 400, code: 'context_length_exceeded' });
    });
  }

  test('a chain of stored responses is cut as one, and stays complete in the store', async () => {
    let previous: string | undefined;
    for (let turn = 0; turn < 8; turn++) {
      const response = await client.responses.create(
        {
          model: 'messages',
          input: prose(`turn${turn}`),
          truncation: 'auto',
          ...(previous === undefined ? {} : { previous_response_id: previous }),
        },
        saying(`Answer ${turn}.`, { tag: `chain-${turn}` }),
      );
      previous = response.id;
    }
    const [sent = ''] = sentFor('chain-7');
    assert.match(sent, /turn0.*turn7/);
    assert.doesNotMatch(sent, /turn1 |Answer 1\./);
    const large = await client.responses.create(
      { model: 'unknown', input: 'And?', previous_response_id: previous ?? '' },
      saying('All.', { tag: 'chain-whole' }),
    );
    assert.equal(large.output_text, 'All.');
    assert.match(sentFor('chain-whole')[0] ?? '', /turn0.*turn1 .*turn7/);
  });

  test('a chain that the vendor stores is cut by the vendor', async () => {
    const first = await client.responses.create({ model: 'native', input: prose('native'), truncation: 'auto' }, saying('Yes.'));
    const { response } = await client.responses
      .create({ model: 'native', input: 'And?', previous_response_id: first.id, truncation: 'auto' }, saying('Sure.', { tag: 'native' }))
      .withResponse();
    assert.equal(response.headers.get('x-gateway-warning'), null);
    assert.match(sentFor('native')[0] ?? '', /"previous_response_id".*"truncation":"auto"|"truncation":"auto".*"previous_response_id"/);
  });

  test('with an unknown window nothing is cut', async () => {
    await client.responses.create({ model: 'unknown', input: longTalk, tools, truncation: 'auto' }, saying('Fine.', { tag: 'unknown' }));
    assert.match(sentFor('unknown')[0] ?? '', /result0.*result7/);
  });

  test('a request that is too long for one target goes to the next', async () => {
    const text = Array.from({ length: 30 }, (_, at) => prose(`volume${at}`)).join(' ');
    const response = await client.responses.create({ model: 'small-then-large', input: text }, saying('Read.'));
    assert.equal(response.output_text, 'Read.');
  });

  test('a vendor that counts more than the estimate is called once more, with less', async () => {
    const faults = [{ fault: 'context-overflow', times: 1 }];
    await fetch(`${running.simulator.controlUrl}/settings`, { method: 'POST', body: JSON.stringify({ faults }) });
    const { data, response } = await client.responses
      .create({ model: 'unknown', input: longTalk, tools, truncation: 'auto' }, saying('Shorter.', { tag: 'again' }))
      .withResponse();
    assert.equal(data.output_text, 'Shorter.');
    assert.match(response.headers.get('x-gateway-warning') ?? '', /removed from the middle/);
    const [whole = '', shorter = ''] = sentFor('again');
    assert.ok(shorter.length < whole.length, `${shorter.length} of ${whole.length}`);
    assert.match(shorter, /FIRST question.*LAST question/);
  });
});
