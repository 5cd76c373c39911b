import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import AnthropicBedrock from '@anthropic-ai/bedrock-sdk';

import { type Answer, call, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { startSimulatedGateway, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';

const sonnet = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const opus = 'us.anthropic.claude-opus-5';
const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc12xyz';
const hello = { max_tokens: 200, messages: [{ role: 'user' as const, content: 'Hello' }] };

const tool = {
  name: 'weather',
  description: 'Weather of a city',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};

/** Bedrock with signed requests, and a gateway in front of it. */
describe('AWS Bedrock', () => {
  let running: SimulatedWeir;
  let keys: ReturnType<SimulatedWeir['simulator']['aws']['state']['addUser']>;
  before(async () => {
    running = await startSimulatedGateway({
      simulator: { apiKeys: [upstreamKey] },
      retries: { attemptsMax: 2, avoidFailing: false, holdOpeningMs: 60_000 },
      clouds: ({ aws }) => {
        keys = aws.state.addUser();
        const { accessKeyId, secretAccessKey } = keys;
        const credential = { kind: 'aws', accessKeyId, secretAccessKey };
        const common = { vendor: 'bedrock', region: 'us-east-1', forwardHeaders: ['x-simulator-*'] };
        return {
          signed: { ...common, baseUrl: aws.runtimeUrl, credential },
          keyed: { ...common, baseUrl: aws.runtimeUrl, apiKey: upstreamKey },
          mantle: { ...common, baseUrl: aws.mantleUrl, endpoint: 'mantle', credential },
          renewed: {
            ...common,
            baseUrl: aws.runtimeUrl,
            credential: { ...credential, roleArn: 'arn:aws:iam::123456789012:role/weir', stsUrl: aws.tokensUrl },
          },
          elsewhere: { ...common, region: 'eu-central-1', baseUrl: aws.runtimeUrl, credential },
        };
      },
      models: {
        sonnet: { targets: [{ upstream: 'signed', model: sonnet, is: 'claude-sonnet-4-5' }] },
        opus: { targets: [{ upstream: 'signed', model: opus, is: 'claude-opus-5' }] },
        profile: { targets: [{ upstream: 'signed', model: arn, is: 'claude-sonnet-4-5' }] },
        keyed: { targets: [{ upstream: 'keyed', model: sonnet }] },
        mantle: { targets: [{ upstream: 'mantle', model: 'anthropic.claude-opus-5' }] },
        gpt: { targets: [{ upstream: 'signed', model: 'openai.gpt-oss-20b-1:0' }] },
        'gpt-mantle': { targets: [{ upstream: 'mantle', model: 'openai.gpt-oss-20b' }] },
        renewed: { targets: [{ upstream: 'renewed', model: sonnet }] },
        elsewhere: { targets: [{ upstream: 'elsewhere', model: sonnet }] },
        nova: { targets: [{ upstream: 'signed', model: 'us.amazon.nova-pro-v1:0' }] },
        'nova-2': { targets: [{ upstream: 'signed', model: 'global.amazon.nova-2-lite-v1:0' }] },
        llama: { targets: [{ upstream: 'signed', model: 'us.meta.llama3-3-70b-instruct-v1:0' }] },
        mistral: { targets: [{ upstream: 'signed', model: 'mistral.mistral-7b-instruct-v0:2' }] },
        deepseek: { targets: [{ upstream: 'signed', model: 'us.deepseek.r1-v1:0' }] },
        qwen: { targets: [{ upstream: 'signed', model: 'qwen.qwen3-32b-v1:0' }] },
        'not-enabled': { targets: [{ upstream: 'signed', model: 'us.anthropic.claude-not-enabled' }] },
        misspelt: { targets: [{ upstream: 'signed', model: 'claude-sonnet-4-5', is: 'claude-sonnet-4-5' }] },
      },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  const ask = (model: string, more: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    post(
      `${running.weir.gatewayUrl}/v1/messages`,
      { model, ...hello, ...more },
      { 'x-api-key': running.weir.apiKey, 'anthropic-version': '2023-06-01', ...headers },
    );
  const aws = () => running.simulator.aws.state;

  test('the official SDK gets the same from Bedrock itself and from Weir in front of it: whole, streamed, with tools', async () => {
    const direct = new AnthropicBedrock({
      baseURL: running.simulator.aws.runtimeUrl,
      awsRegion: 'us-east-1',
      awsAccessKey: keys.accessKeyId,
      awsSecretKey: keys.secretAccessKey,
    });
    const through = new Anthropic({ baseURL: running.weir.gatewayUrl, apiKey: running.weir.apiKey });
    for (const tools of [[], [tool]]) {
      const request = { ...hello, ...(tools.length === 0 ? {} : { tools }) };
      const [expected, got] = await Promise.all([
        direct.messages.create({ ...request, model: sonnet }),
        through.messages.create({ ...request, model: 'sonnet' }),
      ]);
      const plain = ({ content, usage, stop_reason }: Anthropic.Message) =>
        JSON.parse(JSON.stringify({ content, usage, stop_reason }).replaceAll(/"(?:id|signature)":"[^"]*"/g, '"id":""'));
      assert.deepEqual(plain(got), plain(expected));
      const whole = await through.messages.stream({ ...request, model: 'sonnet' }).finalMessage();
      const streamed = await direct.messages.stream({ ...request, model: sonnet }).finalMessage();
      assert.deepEqual(plain(whole), plain(streamed));
    }
  });

  for (const model of [
    'sonnet',
    'opus',
    'profile',
    'keyed',
    'mantle',
    'gpt',
    'gpt-mantle',
    'nova',
    'nova-2',
    'llama',
    'mistral',
    'deepseek',
    'qwen',
  ])
    test(`clients of every interface reach ${model}, whole and as a stream`, async () => {
      for (const api of chatInterfaces)
        for (const streams of [false, true]) {
          const credential = { authorization: `Bearer ${running.weir.apiKey}` };
          const url = `${running.weir.gatewayUrl}${api.path(model, streams)}`;
          const { status, text } = await post(url, api.body(model, 'Hello', streams), { ...api.headers, ...credential });
          assert.equal(status, 200, `${api.dialect} ${text}`);
          if (streams) assert.match(text, api.terminal, api.dialect);
        }
    });

  test('a call is charged as the model behind the profile', async () => {
    const { headers } = await ask('profile');
    const path = String(headers['x-weir-receipt']);
    const { json } = await call(`${running.weir.gatewayUrl}${path}`, { headers: { authorization: `Bearer ${running.weir.apiKey}` } });
    assert.match(JSON.stringify(json), /"amount_usd":"0\.00\d*[1-9]\d*"|"amountNanoUsd":"?[1-9]/, JSON.stringify(json));
  });

  test('beta flags that Bedrock refuses do not reach it, and the client learns which', async () => {
    const { status, headers } = await ask('sonnet', {}, { 'anthropic-beta': 'prompt-caching-2024-07-31,context-1m-2025-08-07' });
    assert.equal(status, 200);
    assert.match(String(headers['x-gateway-warning']), /dropped anthropic-beta prompt-caching-2024-07-31/);
    const sent = JSON.parse(aws().requests.at(-1)?.body.toString() ?? '{}') as Record<string, unknown>;
    assert.deepEqual(sent['anthropic_beta'], ['context-1m-2025-08-07']);
  });

  test('tokens are counted by Bedrock', async () => {
    const url = `${running.weir.gatewayUrl}/v1/messages/count_tokens`;
    const { status, json } = await post(
      url,
      { model: 'sonnet', messages: hello.messages },
      { 'x-api-key': running.weir.apiKey, 'anthropic-version': '2023-06-01' },
    );
    assert.equal(status, 200);
    assert.ok(json.input_tokens > 0, JSON.stringify(json));
    assert.match(aws().requests.at(-1)?.target ?? '', /count-tokens$/);
  });

  test('throttling as the first frame of a stream delivers nothing, so that the call is made again', async () => {
    aws().fail({ at: 'stream', kind: 'exception', type: 'throttlingException', afterFrames: 0 });
    const { status, text } = await ask('sonnet', { stream: true });
    assert.equal(status, 200, text);
    assert.match(text, /message_stop/);
    assert.doesNotMatch(text, /event: error/);
  });

  const later = { stream: true, messages: [{ role: 'user' as const, content: 'Tell me about weirs, in many words.' }] };
  for (const [how, fault] of [
    ['an exception', { at: 'stream', kind: 'exception', type: 'modelStreamErrorException', afterFrames: 6 }],
    ['a damaged frame', { at: 'stream', kind: 'damaged', afterFrames: 6 }],
  ] as const)
    test(`${how} in the middle of a stream ends it with an error event`, async () => {
      aws().fail(fault);
      const { status, text } = await ask('sonnet', later);
      assert.equal(status, 200, text);
      assert.match(text, /content_block_delta[^]*event: error\ndata: \{"type":"error"/);
      assert.doesNotMatch(text, /message_stop/);
    });

  test('keys that are revoked under load are replaced without a failed call', async () => {
    const statuses: number[] = [];
    await ask('renewed');
    await new Promise((resolve) => void setTimeout(resolve, 1100));
    for (let round = 0; round < 6; round += 1) {
      const calls = Array.from({ length: 10 }, () => ask('renewed', { stream: round % 2 === 0 }));
      if (round === 2) aws().revokeIssued();
      for (const { status } of await Promise.all(calls)) statuses.push(status);
    }
    assert.deepEqual([...new Set(statuses)], [200]);
  });

  test('typical refusals are answered in the interface of the client, and the log names the next step', async () => {
    const notEnabled = await ask('not-enabled');
    assert.equal(notEnabled.status, 403);
    assert.equal(notEnabled.json.type, 'error');
    const misspelt = await ask('misspelt');
    assert.equal(misspelt.status, 404);
    const elsewhere = await ask('elsewhere');
    assert.equal(elsewhere.status, 503);
    assert.match(running.weir.output(), /the region of the upstream and its address differ/);
    aws().skewMs = 301_000;
    const skewed = await ask('sonnet');
    aws().skewMs = 0;
    assert.equal(skewed.status, 503);
    assert.match(running.weir.output(), /the clock of this machine is wrong/);
    aws().skewMs = 295_000;
    const within = await ask('sonnet');
    aws().skewMs = 0;
    assert.equal(within.status, 200);
  });
});
