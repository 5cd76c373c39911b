import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  CountTokensCommand,
  type Message,
  type ToolConfiguration,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';

import { call, post } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { type Act, collect, outcomeOf, question, schema } from './acts-of-clients.ts';

const nova = 'us.amazon.nova-pro-v1:0';
const user = (...content: ContentBlock[]): Message => ({ role: 'user', content });
const hello: ConverseCommandInput = { modelId: nova, messages: [user({ text: question })], inferenceConfig: { maxTokens: 300 } };
const toolConfig: ToolConfiguration = {
  tools: [{ toolSpec: { name: 'get_weather', description: 'The weather of a city.', inputSchema: { json: schema } } }],
};
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
/** A PDF with one empty page. */
const pdf = Buffer.from(
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF',
);

const send = (client: BedrockRuntimeClient, input: ConverseCommandInput) => client.send(new ConverseCommand(input));
const stream = async (client: BedrockRuntimeClient, input: ConverseCommandInput) =>
  collect((await client.send(new ConverseStreamCommand(input))).stream ?? assert.fail('no stream'));

/** The whole reply, without the time that it took. */
async function whole(client: BedrockRuntimeClient, input: ConverseCommandInput): Promise<unknown> {
  const { output, stopReason, usage } = await send(client, input);
  return { output, stopReason, usage };
}

/** The text, the calls and the end of a stream, whose cuts are not those of the cloud. */
async function streamed(client: BedrockRuntimeClient, input: ConverseCommandInput): Promise<unknown> {
  const blocks = new Map<number, { start?: unknown; text: string; input: string }>();
  let end: unknown;
  let usage: unknown;
  const order: string[] = [];
  for (const event of await stream(client, input)) {
    const [kind = ''] = Object.keys(event);
    if (order.at(-1) !== kind) order.push(kind);
    const at = event.contentBlockStart?.contentBlockIndex ?? event.contentBlockDelta?.contentBlockIndex;
    const block = at === undefined ? undefined : blocks.getOrInsertComputed(at, () => ({ text: '', input: '' }));
    if (event.contentBlockStart !== undefined && block !== undefined) block.start = event.contentBlockStart.start?.toolUse?.name;
    if (block !== undefined) block.text += event.contentBlockDelta?.delta?.text ?? '';
    if (block !== undefined) block.input += event.contentBlockDelta?.delta?.toolUse?.input ?? '';
    end ??= event.messageStop?.stopReason;
    usage ??= event.metadata?.usage;
  }
  return { blocks: [...blocks], end, usage, order };
}

const callsOf = ({ content = [] }: Message) => content.flatMap(({ toolUse }) => (toolUse === undefined ? [] : [toolUse.toolUseId]));

/** A call of a tool, and the reply to its result. */
async function toolLoop(client: BedrockRuntimeClient, input: ConverseCommandInput): Promise<unknown> {
  const first = await send(client, { ...input, toolConfig: { ...toolConfig, toolChoice: { any: {} } } });
  const turn = first.output?.message ?? assert.fail();
  const content = [{ json: { sky: 'rain' } }, { text: 'Wind: 3' }];
  const results = callsOf(turn).map((toolUseId) => ({ toolResult: { toolUseId, content, status: 'success' as const } }));
  assert.ok(results.length > 0);
  const messages = [...(input.messages ?? []), turn, user(...results)];
  const second = await send(client, { ...input, messages, toolConfig });
  return [first.output, first.stopReason, first.usage, second.output, second.stopReason, second.usage];
}

const cached = { cachePoint: { type: 'default' as const } };
const acts: Readonly<Record<string, Act<BedrockRuntimeClient>>> = {
  'a whole text': (client) => whole(client, { ...hello, system: [{ text: 'Be short.' }] }),
  'a streamed text': (client) => streamed(client, hello),
  'sampling and a stop sequence': (client) =>
    whole(client, { ...hello, inferenceConfig: { maxTokens: 50, temperature: 0.5, topP: 0.9, stopSequences: ['STOP'] } }),
  'a field of the model': (client) => whole(client, { ...hello, additionalModelRequestFields: { inferenceConfig: { topK: 20 } } }),
  'a reply at the output limit': (client) => whole(client, { ...hello, inferenceConfig: { maxTokens: 3 } }),
  'a whole call of a tool': (client) =>
    whole(client, { ...hello, toolConfig: { ...toolConfig, toolChoice: { tool: { name: 'get_weather' } } } }),
  'a streamed call of a tool': (client) => streamed(client, { ...hello, toolConfig: { ...toolConfig, toolChoice: { any: {} } } }),
  'a tool loop': (client) => toolLoop(client, hello),
  'an image': (client) =>
    whole(client, { ...hello, messages: [user({ text: 'What is it?' }, { image: { format: 'png', source: { bytes: pixel } } })] }),
  'a document': (client) =>
    whole(client, {
      ...hello,
      messages: [user({ text: 'Sum it up.' }, { document: { format: 'pdf', name: 'report', source: { bytes: pdf } } })],
    }),
  'cache points': (client) =>
    whole(client, {
      ...hello,
      system: [{ text: 'You know the whole manual. '.repeat(300) }, cached],
      messages: [user({ text: 'The first chapter. '.repeat(300) }, cached, { text: question })],
    }),
  'a conversation without turns': (client) => whole(client, { ...hello, messages: [] }),
  'a temperature that is wrong': (client) => whole(client, { ...hello, inferenceConfig: { temperature: 7 } }),
};

describe('clients of Converse', () => {
  let running: SimulatedWeir;
  before(async () => {
    running = await startSimulatedGateway({
      config: { structuredOutput: { check: 'off' } },
      clouds: ({ aws }) => {
        const { accessKeyId, secretAccessKey } = aws.state.addUser();
        return {
          bedrock: {
            vendor: 'bedrock',
            region: 'us-east-1',
            baseUrl: aws.runtimeUrl,
            credential: { kind: 'aws', accessKeyId, secretAccessKey },
          },
        };
      },
      models: {
        [nova]: { targets: [{ upstream: 'bedrock', model: nova }] },
        'gpt-4.1': { targets: [{ upstream: 'openai', model: 'gpt-4.1' }] },
        'gemini-2.5-flash': { targets: [{ upstream: 'gemini', model: 'gemini-2.5-flash' }] },
        'claude-sonnet-4-5': { targets: [{ upstream: 'anthropic', model: 'claude-sonnet-4-5' }] },
      },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  const common = { region: 'us-east-1', maxAttempts: 1, requestHandler: new NodeHttpHandler() };
  const straight = () => {
    const { accessKeyId, secretAccessKey } = running.simulator.aws.state.addUser();
    return new BedrockRuntimeClient({
      ...common,
      endpoint: running.simulator.aws.runtimeUrl,
      credentials: { accessKeyId, secretAccessKey },
    });
  };
  /** @param more headers for the simulated vendors */
  const through = (more: Readonly<Record<string, string>> = {}) => {
    const client = new BedrockRuntimeClient({
      ...common,
      endpoint: running.weir.gatewayUrl,
      token: { token: running.weir.apiKey },
      authSchemePreference: ['httpBearerAuth'],
    });
    client.middlewareStack.add(
      (next) => (args) => {
        Object.assign((args.request as { headers: Record<string, string> }).headers, more);
        return next(args);
      },
      { step: 'build', name: 'steer' },
    );
    return client;
  };
  const sent = () => {
    const { target, body } = running.simulator.aws.state.requests.at(-1) ?? assert.fail('no request');
    return { target, body: JSON.parse(body.toString()) as unknown };
  };

  describe('@aws-sdk/client-bedrock-runtime gets the same from Bedrock and from Weir in front of it', () => {
    for (const [name, act] of Object.entries(acts))
      test(name, async () => {
        // The first time the prompt may not be in the cache of the vendor.
        await outcomeOf(act, straight());
        const expected = await outcomeOf(act, straight());
        const asked = sent();
        const got = await outcomeOf(act, through());
        assert.deepEqual(got, expected);
        if (!JSON.stringify(expected).includes('"failed"') && name !== 'a tool loop') assert.deepEqual(sent(), asked);
      });
  });

  for (const modelId of ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'gpt-4.1', 'gemini-2.5-flash'])
    test(`${modelId}: text, stream and tool loop come from a model of another interface`, async () => {
      const steering = { 'x-simulator-text': encodeURIComponent('Grüße, 世界') };
      const text = (await send(through(steering), { ...hello, modelId })).output?.message?.content;
      assert.deepEqual(
        text?.map((block) => block.text),
        ['Grüße, 世界'],
      );
      const { blocks, order } = (await streamed(through(steering), { ...hello, modelId })) as { blocks: unknown; order: string[] };
      assert.match(JSON.stringify(blocks), /Grüße, 世界/);
      assert.deepEqual([order[0], ...order.slice(-3)], ['messageStart', 'contentBlockStop', 'messageStop', 'metadata']);
      const loop = (await toolLoop(through(), { ...hello, modelId })) as unknown[];
      assert.deepEqual([loop[1], loop[4]], ['tool_use', 'end_turn']);
    });

  test('thinking keeps its signature through a tool loop, whole and streamed', async () => {
    const modelId = 'claude-sonnet-4-5';
    const input: ConverseCommandInput = {
      ...hello,
      modelId,
      inferenceConfig: { maxTokens: 3000 },
      toolConfig,
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 } },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
    };
    const first = await send(through({ 'x-simulator-tool-calls': '1' }), input);
    const turn = first.output?.message ?? assert.fail();
    const thought = turn.content?.[0]?.reasoningContent?.reasoningText;
    assert.ok(thought?.text !== '' && (thought?.signature ?? '') !== '', JSON.stringify(turn));
    assert.deepEqual(first.additionalModelResponseFields, { stop_sequence: null });
    const results = callsOf(turn).map((toolUseId) => ({ toolResult: { toolUseId, content: [{ text: 'rain' }] } }));
    const next = { ...input, messages: [...(input.messages ?? []), turn, user(...results)] };
    assert.equal((await send(through(), next)).stopReason, 'end_turn');
    const events = await stream(through(), next);
    const deltas = events.map(({ contentBlockDelta }) => contentBlockDelta?.delta?.reasoningContent);
    assert.ok(deltas.some((delta) => (delta?.text ?? '') !== '') && deltas.some((delta) => (delta?.signature ?? '') !== ''));
    assert.deepEqual(events.find(({ messageStop }) => messageStop !== undefined)?.messageStop?.additionalModelResponseFields, {
      stop_sequence: null,
    });
  });

  test('the usage is what is charged, and tokens are counted', async () => {
    const { gatewayUrl, apiKey } = running.weir;
    const headers = { authorization: `Bearer ${apiKey}` };
    const body = { messages: [{ role: 'user', content: [{ text: question }] }], inferenceConfig: { maxTokens: 50 } };
    const answer = await post(`${gatewayUrl}/model/${encodeURIComponent(nova)}/converse`, body, headers);
    const { usage } = answer.json;
    const receipt = await call(`${gatewayUrl}${String(answer.headers['x-weir-receipt'])}`, { headers });
    const counts = JSON.stringify(
      receipt.json.rows[0].lines.map(({ meter, quantity }: { meter: string; quantity: unknown }) => [meter, Number(quantity)]),
    );
    assert.ok(counts.includes(String(usage.inputTokens)) && counts.includes(String(usage.outputTokens)), `${counts} ${answer.text}`);
    assert.equal(usage.totalTokens, usage.inputTokens + usage.outputTokens);
    const converse = { messages: hello.messages, toolConfig };
    const counted = await through().send(new CountTokensCommand({ modelId: 'claude-sonnet-4-5', input: { converse } }));
    assert.ok((counted.inputTokens ?? 0) > 0);
  });

  for (const [what, more, words] of [
    [
      'a guardrail',
      { guardrailConfig: { guardrailIdentifier: 'x', guardrailVersion: '1' } },
      /^guardrailConfig: guardrails are chosen by the/,
    ],
    ['a prompt of Bedrock', { promptVariables: {} }, /^promptVariables: /],
    [
      'an object of S3',
      { messages: [{ role: 'user', content: [{ image: { format: 'png', source: { s3Location: { uri: 's3://x/y' } } } }] }] },
      /^messages\.0\.content\.0\.image\.source\.s3Location: .*send source\.bytes/,
    ],
    [
      'a video',
      { messages: [{ role: 'user', content: [{ video: { format: 'mp4', source: {} } }] }] },
      /^messages\.0\.content\.0\.video: this gateway/,
    ],
    ['a block of two kinds', { messages: [{ role: 'user', content: [{ text: 'a', image: {} }] }] }, /^messages\.0\.content\.0: must be an/],
    ['a cache point before all', { system: [{ cachePoint: { type: 'default' } }] }, /^system\.0\.cachePoint: must follow the content/],
    ['a field at another place', { additionalModelRequestFields: { max_tokens: 5 } }, /max_tokens: belongs to inferenceConfig\.maxTokens/],
    ['a wrong limit', { inferenceConfig: { maxTokens: -1 } }, /^inferenceConfig\.maxTokens: must be at least 0/],
    [
      'a schema that is no JSON',
      { outputConfig: { textFormat: { type: 'json_schema', structure: {} } } },
      /jsonSchema\.schema: must be a JSON/,
    ],
    ['no messages', { messages: undefined }, /^messages: is required/],
  ] as const)
    test(`${what} is refused by its name, as AWS refuses`, async () => {
      const { modelId: _path, ...body } = { ...hello, ...more };
      const url = `${running.weir.gatewayUrl}/model/gpt-4.1/converse`;
      const answer = await post(url, body, { authorization: `Bearer ${running.weir.apiKey}` });
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.headers['x-amzn-errortype'], 'ValidationException');
      assert.match(answer.json.message, words);
    });

  test('what changes nothing here is named', async () => {
    const { modelId: _path, ...body } = { ...hello, requestMetadata: { team: 'search' }, performanceConfig: { latency: 'optimized' } };
    const url = `${running.weir.gatewayUrl}/model/gpt-4.1/converse`;
    const answer = await post(url, body, { authorization: `Bearer ${running.weir.apiKey}` });
    assert.equal(answer.status, 200, answer.text);
    assert.match(String(answer.headers['x-gateway-warning']), /dropped requestMetadata .*x-weir-tags.*dropped performanceConfig\.latency/);
  });

  test('a stream that breaks ends with an exception, never with its usage', async () => {
    const broken = through({ 'x-simulator-fault': 'reset-mid-stream', 'x-simulator-output-tokens': '50' });
    const seen: string[] = [];
    await assert.rejects(async () => {
      const reply = await broken.send(new ConverseStreamCommand({ ...hello, modelId: 'gpt-4.1' }));
      for await (const event of reply.stream ?? []) seen.push(...Object.keys(event));
    });
    assert.ok(seen.includes('contentBlockDelta') && !seen.includes('messageStop') && !seen.includes('metadata'), seen.join());
  });

  test('refusals have the classes of the SDK', async () => {
    await assert.rejects(send(through(), { ...hello, modelId: 'unknown-model' }), { name: 'ResourceNotFoundException' });
    const limited = through({ 'x-simulator-fault': 'status;status=429' });
    await assert.rejects(send(limited, { ...hello, modelId: 'gpt-4.1' }), { name: 'ThrottlingException' });
  });
});
