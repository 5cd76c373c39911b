import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import AnthropicBedrock from '@anthropic-ai/bedrock-sdk';
import Anthropic from '@anthropic-ai/sdk';
import AnthropicVertex from '@anthropic-ai/vertex-sdk';
import { GoogleGenAI } from '@google/genai';
import { AzureOpenAI } from 'openai';

import { call, post } from '../support/http.ts';
import { startSimulatedWeir, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { saying, steer } from './steer.ts';

const claude = 'claude-sonnet-4-5-20250929';
/** The names that the clients of the two clouds have for it. */
const bedrockName = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const vertexName = 'claude-sonnet-4-5@20250929';
const hello: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello' }];
const weather: Anthropic.Tool = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** An authorization of Google that has the key in place of a token. */
const googleAuth = (key: string) => ({ getRequestHeaders: async () => new Headers({ authorization: `Bearer ${key}` }) });

/** The clouds' own clients, which only know that the cloud has another address and that the token is a key. */
describe('clients in the mode of their cloud', () => {
  let running: SimulatedWeir;
  let bedrock: AnthropicBedrock;
  let vertex: AnthropicVertex;
  let azure: AzureOpenAI;
  let url: string;
  let key: string;
  const seen = createSeenUsage();
  const see = (model: string, usage: Anthropic.Usage): void => {
    const cacheRead = usage.cache_read_input_tokens ?? 0;
    const cacheWrite = usage.cache_creation_input_tokens ?? 0;
    seen.add(model, { input: usage.input_tokens + cacheRead + cacheWrite, output: usage.output_tokens, cacheRead, cacheWrite });
  };
  const recordOf = (tag: string) => running.simulator.records().find((record) => record.tag === tag);
  before(async () => {
    running = await startSimulatedWeir({
      models: {
        [claude]: { targets: [{ upstream: 'anthropic', model: claude }] },
        'gpt-4o-prod': { targets: [{ upstream: 'openai', model: 'gpt-4.1' }] },
        broken: { targets: [{ upstream: 'openai', model: 'gpt-4.1' }] },
        translated: { targets: [{ upstream: 'openai', model: 'gpt-4.1' }] },
      },
    });
    ({ gatewayUrl: url, apiKey: key } = running.weir);
    bedrock = new AnthropicBedrock({ baseURL: url, apiKey: key, awsRegion: 'us-east-1', maxRetries: 0 });
    vertex = new AnthropicVertex({
      baseURL: `${url}/v1`,
      region: 'global',
      projectId: 'acme',
      googleAuth: { getClient: async () => googleAuth(key) } as never,
      maxRetries: 0,
    });
    azure = new AzureOpenAI({ endpoint: url, apiKey: key, apiVersion: '2025-01-01-preview', maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());

  for (const [cloud, clientOf, name] of [
    ['Bedrock', () => bedrock, bedrockName],
    ['Vertex AI', () => vertex, vertexName],
  ] as const) {
    test(`${cloud}: a whole reply, its request as the vendor expects it, betas as a header`, async () => {
      const options = saying('Grüße', { tag: `${cloud}-whole` });
      const headers = { ...options.headers, 'anthropic-beta': 'context-1m-2025-08-07' };
      const message = await clientOf().messages.create({ model: name, max_tokens: 200, messages: hello }, { headers });
      assert.deepEqual(message.content[0]?.type === 'text' ? message.content[0].text : message.content, 'Grüße');
      // Claude Code drops the thoughts of replies that name another model than it called.
      assert.equal(message.model, name);
      see(claude, message.usage);
      const record = recordOf(`${cloud}-whole`);
      assert.equal(record?.path, '/v1/messages');
      assert.equal(record?.requestHeaders['anthropic-beta'], 'context-1m-2025-08-07');
      assert.deepEqual(record?.requestBody, {
        model: claude,
        ...(cloud === 'Bedrock' ? { stream: false } : {}),
        max_tokens: 200,
        messages: hello,
      });
    });

    test(`${cloud}: a stream with a tool call is whole, and its usage is in the books`, async () => {
      const stream = clientOf().messages.stream(
        { model: name, max_tokens: 500, messages: hello, tools: [weather] },
        steer({ 'tool-calls': 1 }),
      );
      const message = await stream.finalMessage();
      assert.equal(message.stop_reason, 'tool_use');
      assert.equal(message.model, name);
      assert.ok(message.content.some((block) => block.type === 'tool_use' && block.name === 'get_weather'));
      see(claude, message.usage);
    });

    test(`${cloud}: a model of another vendor is translated`, async () => {
      const stream = clientOf().messages.stream({ model: 'translated', max_tokens: 100, messages: hello }, saying('Hi there'));
      assert.equal(await stream.finalText(), 'Hi there');
      see('translated', (await stream.finalMessage()).usage);
    });

    test(`${cloud}: refusals have the classes of the SDK`, async () => {
      const ask = (model: string, more: object = {}, maxTokens = 100) =>
        clientOf().messages.create({ model, max_tokens: maxTokens, messages: hello }, more);
      await assert.rejects(
        ask('unknown-model'),
        (error) => error instanceof Anthropic.NotFoundError && /not served here/.test(error.message),
      );
      await assert.rejects(ask(name, {}, -1), (error) => error instanceof Anthropic.BadRequestError && /max_tokens/.test(error.message));
      await assert.rejects(ask(name, steer({ fault: 'status;status=429' })), Anthropic.RateLimitError);
    });

    test(`${cloud}: a stream that breaks is an error and never a whole reply`, async () => {
      const broken = clientOf().messages.stream(
        { model: 'broken', max_tokens: 100, messages: hello },
        steer({ fault: 'reset-mid-stream', 'output-tokens': 50, tag: `${cloud}-broken` }),
      );
      await assert.rejects(broken.finalMessage(), (error) => error instanceof Anthropic.APIError);
    });
  }

  test('Bedrock: tokens are counted in its form, and the count is that of Messages', async () => {
    const body = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 1, messages: hello };
    const wrapped = { input: { invokeModel: { body: Buffer.from(JSON.stringify(body)).toString('base64') } } };
    const counted = await post(`${url}/model/${encodeURIComponent(bedrockName)}/count-tokens`, wrapped, { authorization: `Bearer ${key}` });
    const usual = await post(
      `${url}/v1/messages/count_tokens`,
      { model: claude, messages: hello },
      { authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01' },
    );
    assert.deepEqual(counted.json, { inputTokens: usual.json.input_tokens });
    const neither = await post(`${url}/model/x/count-tokens`, { input: {} }, { authorization: `Bearer ${key}` });
    assert.equal(neither.status, 400);
    assert.equal(neither.headers['x-amzn-errortype'], 'ValidationException');
    assert.match(String(neither.json.message), /input\.invokeModel\.body: is required, or input\.converse/);
  });

  test('Vertex AI: tokens are counted', async () => {
    const { input_tokens: tokens } = await vertex.messages.countTokens({ model: vertexName, messages: hello });
    assert.ok(tokens > 0);
  });

  test('Bedrock: whole replies have their usage in headers, and the last event of a stream has it too', async () => {
    const body = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 50, messages: hello };
    const whole = await post(`${url}/model/${encodeURIComponent(bedrockName)}/invoke`, body, { authorization: `Bearer ${key}` });
    see(claude, whole.json.usage);
    assert.equal(whole.headers['x-amzn-bedrock-input-token-count'], String(whole.json.usage.input_tokens));
    assert.equal(whole.headers['x-amzn-bedrock-output-token-count'], String(whole.json.usage.output_tokens));
    assert.match(String(whole.headers['x-weir-receipt']), /^\/v1\/receipts\//);
    const stream = await bedrock.messages.create({ model: bedrockName, max_tokens: 50, messages: hello, stream: true });
    let metrics: unknown;
    for await (const event of stream) {
      if (event.type === 'message_start') see(claude, { ...event.message.usage, output_tokens: 0 });
      if (event.type === 'message_stop') metrics = (event as unknown as Record<string, unknown>)['amazon-bedrock-invocationMetrics'];
    }
    const { inputTokenCount, outputTokenCount } = metrics as { inputTokenCount: number; outputTokenCount: number };
    assert.ok(inputTokenCount > 0 && outputTokenCount > 0);
    const totals = seen.totals()[claude] ?? assert.fail();
    totals.output += outputTokenCount;
  });

  test('Bedrock: a signature without a key is answered with what to set', async () => {
    const signed = {
      authorization: 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261127/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00',
    };
    const refused = await call(`${url}/model/${bedrockName}/invoke`, {
      method: 'POST',
      headers: { ...signed, 'content-type': 'application/json' },
      body: '{}',
    });
    assert.equal(refused.status, 403);
    assert.equal(refused.headers['x-amzn-errortype'], 'UnrecognizedClientException');
    assert.match(refused.text, /AWS_BEARER_TOKEN_BEDROCK/);
    const withKey = { ...signed, 'x-api-key': key };
    const body = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 5, messages: hello };
    const answered = await post(`${url}/model/${encodeURIComponent(bedrockName)}/invoke`, body, withKey);
    assert.equal(answered.status, 200, answered.text);
    see(claude, answered.json.usage);
  });

  for (const [place, options] of [
    ['a project', { project: 'acme', location: 'europe-west1' }],
    ['no project, by an API key', {}],
  ] as const) {
    test(`Google’s SDK for Vertex AI, with ${place}: whole, streamed and counted`, async () => {
      const model = 'gemini-2.5-flash';
      const client = new GoogleGenAI({
        vertexai: true,
        ...options,
        httpOptions: { baseUrl: url, headers: { 'x-goog-api-key': key } },
        googleAuthOptions: { authClient: googleAuth('') as never },
      });
      const config = { httpOptions: { headers: saying('Hello Vertex').headers } };
      const whole = await client.models.generateContent({ model, contents: 'Hello', config });
      assert.equal(whole.text, 'Hello Vertex');
      const chunks = [];
      for await (const chunk of await client.models.generateContentStream({ model, contents: 'Hello', config })) chunks.push(chunk);
      assert.equal(chunks.map(({ text }) => text ?? '').join(''), 'Hello Vertex');
      for (const usage of [whole.usageMetadata, chunks.at(-1)?.usageMetadata]) {
        seen.add(model, {
          input: usage?.promptTokenCount ?? 0,
          output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
        });
      }
      const counted = await client.models.countTokens({ model, contents: 'Hello' });
      assert.ok((counted.totalTokens ?? 0) > 0);
      await assert.rejects(client.models.generateContent({ model: 'unknown-model', contents: 'Hello' }), { status: 404 });
    });
  }

  test('Azure: the deployment in the path is the model, whatever the body says', async () => {
    const own = new AzureOpenAI({ endpoint: url, apiKey: key, apiVersion: '2025-01-01-preview', deployment: 'gpt-4o-prod', maxRetries: 0 });
    const whole = await own.chat.completions.create(
      { model: 'whatever', messages: [{ role: 'user', content: 'Hello' }] },
      saying('Hello Azure', { tag: 'azure-whole' }),
    );
    assert.equal(whole.choices[0]?.message.content, 'Hello Azure');
    assert.equal(recordOf('azure-whole')?.requestBody?.['model'], 'gpt-4.1');
    seen.add('gpt-4o-prod', { input: whole.usage?.prompt_tokens ?? 0, output: whole.usage?.completion_tokens ?? 0 });
    await assert.rejects(azure.chat.completions.create({ model: 'unknown-model', messages: [{ role: 'user', content: 'x' }] }), {
      status: 404,
    });
  });

  test('Azure: responses and streams have no deployment in the path', async () => {
    const stream = azure.responses.stream({ model: 'gpt-4o-prod', input: 'Hello' }, saying('Streamed'));
    const response = await stream.finalResponse();
    assert.equal(response.output_text, 'Streamed');
    seen.add('gpt-4o-prod', { input: response.usage?.input_tokens ?? 0, output: response.usage?.output_tokens ?? 0 });
  });

  test('Azure: embeddings of a deployment', async () => {
    const own = new AzureOpenAI({
      endpoint: url,
      apiKey: key,
      apiVersion: '2025-01-01-preview',
      deployment: 'text-embedding-3-small',
      maxRetries: 0,
    });
    const made = await own.embeddings.create({ model: 'whatever', input: 'Hello' });
    assert.ok((made.data[0]?.embedding.length ?? 0) > 0);
    seen.add('text-embedding-3-small', { input: made.usage.prompt_tokens, output: 0 });
  });

  test('Foundry: Messages below /anthropic, with the key in x-api-key', async () => {
    const foundry = new Anthropic({ baseURL: `${url}/anthropic/`, apiKey: key, maxRetries: 0 });
    const message = await foundry.messages.create({ model: bedrockName, max_tokens: 50, messages: hello });
    assert.equal(message.model, bedrockName);
    see(claude, message.usage);
    const counted = await foundry.messages.countTokens({ model: claude, messages: hello });
    assert.ok(counted.input_tokens > 0);
  });

  test('a quote on a cloud’s path is that of the chat', async () => {
    const body = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 50, messages: hello };
    const path = `/model/${encodeURIComponent(bedrockName)}/invoke`;
    const cloud = await post(`${url}/v1/quote`, { path, body }, { authorization: `Bearer ${key}` });
    const usual = await post(
      `${url}/v1/quote`,
      { path: '/v1/messages', body: { model: claude, stream: false, max_tokens: 50, messages: hello } },
      { authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01' },
    );
    assert.equal(cloud.status, 200, cloud.text);
    assert.deepEqual(cloud.json.maximum, usual.json.maximum);
  });

  test('unknown methods and paths are answered in the form of the cloud', async () => {
    const started = await post(`${url}/model/${bedrockName}/async-invoke`, {}, { authorization: `Bearer ${key}` });
    assert.deepEqual([started.status, started.headers['x-amzn-errortype']], [404, 'ResourceNotFoundException']);
    const predict = await post(
      `${url}/v1/projects/acme/locations/global/publishers/google/models/imagen:predict`,
      {},
      { authorization: `Bearer ${key}` },
    );
    assert.deepEqual([predict.status, predict.json.error.status], [404, 'NOT_FOUND']);
    const claudePredict = await post(
      `${url}/v1/projects/acme/locations/global/publishers/anthropic/models/x:predict`,
      {},
      { authorization: `Bearer ${key}` },
    );
    assert.deepEqual([claudePredict.status, claudePredict.json.type], [404, 'error']);
  });

  test('the books have what the clients saw', () => assertBooksAgree(running.weir, seen, ['broken']));
});
