import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import AnthropicBedrock from '@anthropic-ai/bedrock-sdk';
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand, type ConverseCommandInput } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import OpenAI from 'openai';

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
      // The simulated models of Converse write JSON only if a schema or a function demands it.
      config: { structuredOutput: { check: 'off' }, moderations: { standIn: 'sonnet' } },
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
          guarded: { ...common, baseUrl: aws.runtimeUrl, credential, guardrail: { id: 'gr1simulated', version: '1' } },
          misguarded: { ...common, baseUrl: aws.runtimeUrl, credential, guardrail: { id: 'gr1unknown', version: '1' } },
        };
      },
      models: {
        sonnet: { targets: [{ upstream: 'signed', model: sonnet, is: 'claude-sonnet-4-5' }] },
        opus: { targets: [{ upstream: 'signed', model: opus, is: 'claude-opus-5' }] },
        'opus-global': { targets: [{ upstream: 'signed', model: 'global.anthropic.claude-opus-5' }] },
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
        'guarded-nova': { targets: [{ upstream: 'guarded', model: 'us.amazon.nova-pro-v1:0' }] },
        'guarded-claude': { targets: [{ upstream: 'guarded', model: opus, is: 'claude-opus-5' }] },
        misguarded: { targets: [{ upstream: 'misguarded', model: 'us.amazon.nova-pro-v1:0' }] },
        'on-demand': { targets: [{ upstream: 'signed', model: 'amazon.nova-2-lite-v1:0' }] },
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

  test('a regional profile costs a tenth more than a global one, and quote, hold and receipt say so', async () => {
    const headers = { authorization: `Bearer ${running.weir.apiKey}` };
    for (const [model, region] of [
      ['opus', 'us'],
      ['opus-global', 'global'],
      ['profile', 'us-east-1'],
    ] as const) {
      const answer = await ask(model);
      const { json } = await call(`${running.weir.gatewayUrl}${String(answer.headers['x-weir-receipt'])}`, { headers });
      const quote = await post(`${running.weir.gatewayUrl}/v1/quote`, { path: '/v1/messages', body: { model, ...hello } }, headers);
      const quoted = quote.json.targets?.[0] ?? assert.fail(quote.text);
      const [row] = json.rows ?? assert.fail(JSON.stringify(json));
      for (const { pricing_parameters: parameters, lines } of [row, quoted]) {
        assert.equal(parameters.region, region);
        assert.ok(lines.length > 0);
        for (const { multipliers } of lines) assert.equal(multipliers.regional_endpoint, region === 'global' ? undefined : '1.1');
      }
    }
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

  describe('Converse', () => {
    const nova = 'us.amazon.nova-pro-v1:0';
    const direct = (): BedrockRuntimeClient =>
      new BedrockRuntimeClient({
        endpoint: running.simulator.aws.runtimeUrl,
        region: 'us-east-1',
        credentials: { accessKeyId: keys.accessKeyId, secretAccessKey: keys.secretAccessKey },
        // The simulated cloud speaks HTTP/1.1.
        requestHandler: new NodeHttpHandler(),
      });
    const through = (): OpenAI => new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
    const sent = (): any => JSON.parse(aws().requests.at(-1)?.body.toString() ?? '{}');
    const tools = {
      tools: [{ toolSpec: { name: tool.name, description: tool.description, inputSchema: { json: { ...tool.input_schema } } } }],
    };
    const city: Pick<ConverseCommandInput, 'messages' | 'inferenceConfig'> = {
      messages: [{ role: 'user', content: [{ text: 'Weather in Bern?' }] }],
      inferenceConfig: { maxTokens: 300 },
    };
    const inChat: Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model'> = {
      messages: [{ role: 'user', content: 'Weather in Bern?' }],
      max_completion_tokens: 300,
      tools: [{ type: 'function', function: { name: tool.name, description: tool.description, parameters: tool.input_schema } }],
    };

    test('Weir sends what the SDK of AWS sends for the same call, and its client gets the same reply: whole and streamed', async () => {
      const input: ConverseCommandInput = { ...city, modelId: nova, toolConfig: tools };
      const client = direct();
      try {
        const whole = await client.send(new ConverseCommand(input));
        const ofSdk = { target: aws().requests.at(-1)?.target, body: sent() };
        const message = await through().chat.completions.create({ ...inChat, model: 'nova' });
        assert.deepEqual({ target: aws().requests.at(-1)?.target, body: sent() }, ofSdk);
        const [use] = whole.output?.message?.content ?? [];
        const [call] = message.choices[0]?.message.tool_calls ?? [];
        assert.ok(call?.type === 'function' && use?.toolUse !== undefined);
        assert.deepEqual(JSON.parse(call.function.arguments), use.toolUse.input);
        assert.deepEqual(
          [message.usage?.prompt_tokens, message.usage?.completion_tokens],
          [whole.usage?.inputTokens, whole.usage?.outputTokens],
        );
        const { stream } = await client.send(new ConverseStreamCommand(input));
        let text = '';
        for await (const event of stream ?? []) text += event.contentBlockDelta?.delta?.toolUse?.input ?? '';
        const ofStream = { target: aws().requests.at(-1)?.target, body: sent() };
        const streamed = await through()
          .chat.completions.stream({ ...inChat, model: 'nova', stream: true })
          .finalMessage();
        assert.deepEqual({ target: aws().requests.at(-1)?.target, body: sent() }, ofStream);
        const [streamedCall] = streamed.tool_calls ?? [];
        assert.ok(streamedCall?.type === 'function');
        assert.deepEqual(JSON.parse(streamedCall.function.arguments), JSON.parse(text));
      } finally {
        client.destroy();
      }
    });

    test('a tool loop with the thoughts of Nova 2: their signature comes back to it, and to no other model', async () => {
      const claude = new Anthropic({ baseURL: running.weir.gatewayUrl, apiKey: running.weir.apiKey, maxRetries: 0 });
      const request = { max_tokens: 2000, tools: [tool], thinking: { type: 'enabled' as const, budget_tokens: 1024 } };
      const question: Anthropic.MessageParam = { role: 'user', content: 'Weather in Bern?' };
      const first = await claude.messages.stream({ ...request, model: 'nova-2', messages: [question] }).finalMessage();
      assert.equal(first.stop_reason, 'tool_use');
      const use = first.content.find((block) => block.type === 'tool_use');
      assert.ok(first.content[0]?.type === 'thinking' && use !== undefined);
      const result: Anthropic.MessageParam = { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'rain' }] };
      const messages: Anthropic.MessageParam[] = [question, { role: 'assistant', content: first.content }, result];
      const second = await claude.messages.create({ ...request, model: 'nova-2', messages });
      assert.equal(second.stop_reason, 'end_turn');
      const [, turn] = sent().messages;
      assert.match(turn.content[0].reasoningContent.reasoningText.signature, /^[A-Za-z0-9+/=]+$/);
      const called = turn.content.find((block: any) => block.toolUse !== undefined).toolUse;
      assert.equal(called.toolUseId, sent().messages[2].content[0].toolResult.toolUseId);
      const elsewhere = await claude.messages.create({ ...request, model: 'qwen', messages });
      assert.equal(elsewhere.stop_reason, 'end_turn');
      assert.doesNotMatch(JSON.stringify(sent()), /reasoningContent/);
    });

    test('a model that streams no calls of functions answers whole, and the client gets a stream', async () => {
      const streamed = await through()
        .chat.completions.stream({ ...inChat, model: 'llama', stream: true })
        .finalMessage();
      assert.equal(streamed.tool_calls?.length, 1);
      assert.match(aws().requests.at(-1)?.target ?? '', /\/converse$/);
    });

    test('a model without a setting for a format is asked for it in words, and its client gets a warning', async () => {
      const schema = { type: 'object', properties: { height: { type: 'integer' } }, required: ['height'], additionalProperties: false };
      const { data, response } = await through()
        .chat.completions.create({
          model: 'llama',
          messages: [{ role: 'user', content: 'How high is the weir?' }],
          response_format: { type: 'json_schema', json_schema: { name: 'weir', strict: true, schema } },
        })
        .withResponse();
      assert.equal(typeof JSON.parse(data.choices[0]?.message.content ?? '').height, 'number');
      assert.match(response.headers.get('x-gateway-warning') ?? '', /response_format/);
    });

    test('tokens that were read from the cache and written to it are metered', async () => {
      const long = 'The weir is three metres high. '.repeat(200);
      const system = [{ type: 'text', text: long, cache_control: { type: 'ephemeral' } }];
      const before = await ask('nova', { system });
      const usage = (await ask('nova', { system })).json.usage;
      assert.deepEqual(sent().system, [{ text: long }, { cachePoint: { type: 'default' } }]);
      assert.equal(usage.cache_read_input_tokens, before.json.usage.cache_creation_input_tokens);
      assert.ok(usage.cache_read_input_tokens > 1000 && usage.input_tokens > 0, JSON.stringify(usage));
    });

    test('throttling as the first frame delivers nothing, so that the call is made again', async () => {
      aws().fail({ at: 'stream', kind: 'exception', type: 'throttlingException', afterFrames: 0 });
      const { status, text } = await ask('nova', { stream: true });
      assert.equal(status, 200, text);
      assert.match(text, /message_stop/);
      assert.doesNotMatch(text, /event: error/);
    });

    for (const [how, fault] of [
      ['an exception', { at: 'stream', kind: 'exception', type: 'modelStreamErrorException', afterFrames: 6 }],
      ['a damaged frame', { at: 'stream', kind: 'damaged', afterFrames: 6 }],
    ] as const)
      test(`${how} in the middle of a stream ends it with an error, for clients of every interface`, async () => {
        for (const api of chatInterfaces) {
          aws().fail(fault);
          const url = `${running.weir.gatewayUrl}${api.path('nova', true)}`;
          const { text } = await post(url, api.body('nova', 'Tell me about weirs, in many words.', true), {
            ...api.headers,
            authorization: `Bearer ${running.weir.apiKey}`,
          });
          assert.match(text, api.errorEvent, api.dialect);
          assert.doesNotMatch(text, api.terminal, api.dialect);
        }
      });

    test('content that a model does not take is refused by its name, and a bare id of a model that has only profiles says what to do', async () => {
      const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } } as const;
      await assert.rejects(
        through().chat.completions.create({ model: 'nova', messages: [{ role: 'user', content: [audio] }] }),
        (error) => error instanceof OpenAI.BadRequestError && /messages\[0\]\.content\[0\].*audio/.test(error.message),
      );
      const onDemand = await ask('on-demand');
      assert.equal(onDemand.status, 400);
      assert.match(onDemand.text, /inference profile/);
    });
  });

  describe('guardrails', () => {
    const question = { messages: [{ role: 'user', content: 'This is a forbidden question.' }] };

    test('a refused prompt is a 400 with the words of the guardrail, and the log has what it found', async () => {
      for (const model of ['guarded-nova', 'guarded-claude']) {
        const { status, json, text } = await ask(model, question);
        assert.equal(status, 400, text);
        assert.match(json.error.message, /the policy of this company does not permit this question/);
        assert.doesNotMatch(text, /Company secrets/);
      }
      assert.match(running.weir.output(), /upstream_content_filtered/);
      assert.match(running.weir.output(), /its content filter refused the request \(Company secrets\)/);
    });

    test('Converse says so in a stream before any word has passed; a stream of InvokeModel ends with a refusal', async () => {
      const nova = await ask('guarded-nova', { ...question, stream: true });
      assert.equal(nova.status, 400, nova.text);
      const claude = await ask('guarded-claude', { ...question, stream: true });
      assert.equal(claude.status, 200);
      assert.match(claude.text, /does not permit this question[^]*"stop_reason":"refusal"[^]*message_stop/);
      assert.doesNotMatch(claude.text, /amazon-bedrock-(?:trace|guardrail)/);
    });

    test('a reply that it stopped or masked arrives as it is now, and ends as a refusal in every interface', async () => {
      for (const [said, arrives] of [
        ['a forbidden answer', /does not permit this answer/],
        ['Erika Mustermann', /\{NAME\}/],
      ] as const)
        for (const model of ['guarded-nova', 'guarded-claude'])
          for (const stream of [false, true]) {
            const { status, text } = await ask(model, { stream }, { 'x-simulator-text': encodeURIComponent(said) });
            assert.equal(status, 200, text);
            assert.match(text, arrives);
            assert.match(text, /"stop_reason":\s*"refusal"/, `${model} ${stream}`);
          }
      const url = `${running.weir.gatewayUrl}/v1/chat/completions`;
      const chat = await post(
        url,
        { model: 'guarded-nova', messages: hello.messages },
        { authorization: `Bearer ${running.weir.apiKey}`, 'x-simulator-text': 'Erika%20Mustermann' },
      );
      assert.equal(chat.json.choices[0].finish_reason, 'content_filter');
    });

    test('a guardrail that does not exist is refused by AWS', async () => {
      const { status, text } = await ask('misguarded');
      assert.equal(status, 400);
      assert.match(text, /guardrail identifier or version/);
    });
  });

  test('Claude judges by InvokeModel in place of a moderation model', async () => {
    const categories = ['hate', 'hate_threatening', 'harassment', 'harassment_threatening', 'illicit', 'illicit_violent'];
    const others = ['self_harm', 'self_harm_intent', 'self_harm_instructions', 'sexual', 'sexual_minors', 'violence_graphic'];
    const scores = { ...Object.fromEntries([...categories, ...others].map((name) => [name, 0.01])), violence: 0.9 };
    const said = { 'x-simulator-text': encodeURIComponent(JSON.stringify({ input_1: scores })) };
    const { gatewayUrl, apiKey } = running.weir;
    const headers = { authorization: `Bearer ${apiKey}`, ...said };
    const judged = await post(`${gatewayUrl}/v1/moderations`, { model: 'sonnet', input: 'I will kill it' }, headers);
    assert.equal(judged.status, 200, judged.text);
    assert.deepEqual([judged.json.model, judged.json.results[0].categories.violence], ['sonnet', true]);
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
