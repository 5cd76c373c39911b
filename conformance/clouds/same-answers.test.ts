import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import AnthropicBedrock from '@anthropic-ai/bedrock-sdk';
import Anthropic from '@anthropic-ai/sdk';
import AnthropicVertex from '@anthropic-ai/vertex-sdk';
import {
  BedrockRuntimeClient,
  CountTokensCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { type Content, GoogleGenAI } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { AzureOpenAI } from 'openai';
import type { RunningSimulator } from 'weir-simulator';

import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';
import {
  type Act,
  actsOfMessages,
  calls,
  collect,
  countTokens,
  type CountingClient,
  type MessagesClient,
  outcomeOf,
  question,
  says,
  schema,
  steer,
} from './acts-of-clients.ts';

const bedrockName = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const vertexName = 'claude-sonnet-4-5@20250929';
const geminiName = 'gemini-2.5-flash';
const apiVersion = '2025-03-01-preview';
const azureKey = 'azure-key-1';

function actsOfInvoke(modelId: string): Readonly<Record<string, Act<BedrockRuntimeClient>>> {
  const request = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 200, messages: [{ role: 'user', content: question }] };
  const tools = [{ name: 'get_weather', input_schema: schema }];
  const input = (body: object) => ({ modelId, contentType: 'application/json', accept: 'application/json', body: JSON.stringify(body) });
  const invoke = async (client: BedrockRuntimeClient, body: object): Promise<unknown> => {
    const { body: bytes, contentType } = await client.send(new InvokeModelCommand(input(body)));
    return { contentType, reply: JSON.parse(Buffer.from(bytes).toString()) as unknown };
  };
  const stream = async (client: BedrockRuntimeClient, body: object): Promise<unknown> => {
    const reply = await client.send(new InvokeModelWithResponseStreamCommand(input(body)));
    const events = await collect(reply.body ?? assert.fail('no stream'));
    return events.map(({ chunk }) => JSON.parse(Buffer.from(chunk?.bytes ?? []).toString()) as unknown);
  };
  return {
    'a whole text': (client) => invoke(client, request),
    'a streamed text': (client) => stream(client, request),
    'a whole call of a tool': (client) => invoke(client, { ...request, tools }),
    'a streamed call of a tool': (client) => stream(client, { ...request, tools }),
    'a request that is wrong': (client) => invoke(client, { ...request, max_tokens: -1 }),
    'a count of tokens': async (client) => {
      const body = Buffer.from(JSON.stringify(request));
      const { inputTokens } = await client.send(
        new CountTokensCommand({ modelId: 'anthropic.claude-sonnet-4-5-20250929-v1:0', input: { invokeModel: { body } } }),
      );
      return inputTokens;
    },
  };
}

const geminiTools = [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: schema }] }];

const actsOfGemini: Readonly<Record<string, Act<GoogleGenAI>>> = {
  'a whole text': ({ models }) => models.generateContent({ model: geminiName, contents: question, config: { httpOptions: says } }),
  'a streamed text': async ({ models }) =>
    collect(await models.generateContentStream({ model: geminiName, contents: question, config: { httpOptions: says } })),
  'a whole call of a tool': ({ models }) =>
    models.generateContent({ model: geminiName, contents: question, config: { httpOptions: calls, tools: geminiTools } }),
  'a streamed call of a tool': async ({ models }) =>
    collect(
      await models.generateContentStream({ model: geminiName, contents: question, config: { httpOptions: calls, tools: geminiTools } }),
    ),
  'a tool loop with thoughts': async ({ models }) => {
    const contents: Content[] = [{ role: 'user', parts: [{ text: question }] }];
    const config = { tools: geminiTools, thinkingConfig: { includeThoughts: true } };
    const first = await models.generateContent({ model: geminiName, contents, config: { ...config, httpOptions: calls } });
    const turn = first.candidates?.[0]?.content ?? assert.fail('no candidate');
    const results = (first.functionCalls ?? []).map(({ id, name = '' }) => ({
      functionResponse: { ...(id !== undefined && { id }), name, response: { sky: 'rain' } },
    }));
    assert.equal(results.length, 1);
    contents.push(turn, { role: 'user', parts: results });
    return [first, await models.generateContent({ model: geminiName, contents, config: { ...config, httpOptions: says } })];
  },
  'an answer by a schema': ({ models }) =>
    models.generateContent({
      model: geminiName,
      contents: question,
      config: { responseMimeType: 'application/json', responseJsonSchema: schema },
    }),
  'a count of tokens': ({ models }) => models.countTokens({ model: geminiName, contents: question }),
  'a model that does not exist': ({ models }) => models.generateContent({ model: 'gemini-unknown', contents: question }),
  'a request that is wrong': ({ models }) => models.generateContent({ model: geminiName, contents: question, config: { temperature: 9 } }),
  'a limit of the vendor': ({ models }) =>
    models.generateContent({ model: geminiName, contents: question, config: { httpOptions: steer({ fault: 'status;status=429' }) } }),
  'a stream that is refused': async ({ models }) =>
    collect(
      await models.generateContentStream({
        model: geminiName,
        contents: question,
        config: { httpOptions: steer({ fault: 'status;status=429' }) },
      }),
    ),
};

const chat = { model: 'chat-prod', messages: [{ role: 'user' as const, content: question }] };
const chatTools = { tools: [{ type: 'function' as const, function: { name: 'get_weather', parameters: schema } }] };
const streamed = { stream: true as const, stream_options: { include_usage: true } };
const response = { model: 'reasoning-prod', input: question, store: false };
const responseTools = { tools: [{ type: 'function' as const, name: 'get_weather', parameters: schema, strict: false }] };

const actsOfAzure: Readonly<Record<string, Act<AzureOpenAI>>> = {
  'a whole chat': (client) => client.chat.completions.create(chat, says),
  'a streamed chat': async (client) => collect(await client.chat.completions.create({ ...chat, ...streamed }, says)),
  'a whole call of a tool': (client) => client.chat.completions.create({ ...chat, ...chatTools }, calls),
  'a streamed call of a tool': async (client) =>
    collect(await client.chat.completions.create({ ...chat, ...chatTools, ...streamed }, calls)),
  'a tool loop': async (client) => {
    const first = await client.chat.completions.create({ ...chat, ...chatTools }, calls);
    const message = first.choices[0]?.message ?? assert.fail('no choice');
    const results = (message.tool_calls ?? []).map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'rain' }));
    assert.equal(results.length, 1);
    const second = await client.chat.completions.create({ ...chat, ...chatTools, messages: [...chat.messages, message, ...results] }, says);
    return [first, second];
  },
  'a whole response': (client) => client.responses.create(response, says),
  'a streamed response': async (client) => collect(await client.responses.create({ ...response, stream: true }, says)),
  'a streamed call of a tool in a response': async (client) =>
    collect(await client.responses.create({ ...response, ...responseTools, stream: true }, calls)),
  embeddings: (client) => client.embeddings.create({ model: 'embed-prod', input: [question, 'Hello'] }),
  'a deployment that does not exist': (client) => client.chat.completions.create({ ...chat, model: 'not-deployed' }),
  'a request that is wrong': (client) => client.chat.completions.create({ ...chat, temperature: 9 }),
  'a prompt that the filter refuses': (client) =>
    client.chat.completions.create({ ...chat, messages: [{ role: 'user', content: 'Hello [[azure filter=violence]]' }] }),
  'a limit of the vendor': (client) => client.chat.completions.create(chat, steer({ fault: 'status;status=429' })),
};

const keyless = { apiKey: null, authToken: null, maxRetries: 0 } as const;

const googleAuth = (token: () => string) => ({ getRequestHeaders: async () => new Headers({ authorization: `Bearer ${token()}` }) });

/** The clouds' own SDKs, once at the simulated cloud and once at Weir, under the same names of models. */
describe('official SDKs get the same from a cloud and from Weir in front of it', () => {
  let running: SimulatedWeir;
  before(async () => {
    running = await startSimulatedGateway({
      simulator: { google: { models: { '*': [vertexName, geminiName] } }, azure: { keys: [azureKey] } },
      clouds: describeClouds,
      models: {
        [bedrockName]: { targets: [{ upstream: 'bedrock', model: bedrockName, is: 'claude-sonnet-4-5' }] },
        [vertexName]: { targets: [{ upstream: 'vertex', model: vertexName }] },
        [geminiName]: { targets: [{ upstream: 'vertex', model: geminiName }] },
        'claude-prod': { targets: [{ upstream: 'foundry', model: 'claude-prod', is: 'claude-sonnet-4-5' }] },
        'chat-prod': { targets: [{ upstream: 'azure', model: 'chat-prod', is: 'gpt-4.1' }] },
        'reasoning-prod': { targets: [{ upstream: 'azure', model: 'reasoning-prod', is: 'gpt-5' }] },
        'not-deployed': { targets: [{ upstream: 'azure', model: 'not-deployed', is: 'gpt-4.1' }] },
        'embed-prod': { targets: [{ upstream: 'azure', model: 'embed-prod', is: 'text-embedding-3-small' }] },
      },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  const weir = () => ({ url: running.weir.gatewayUrl, key: running.weir.apiKey });
  const awsKeys = () => running.simulator.aws.state.addUser();
  const google = () => running.simulator.google ?? assert.fail();

  function compare<Client>(title: string, acts: Readonly<Record<string, Act<Client>>>, clients: () => readonly [Client, Client]): void {
    describe(title, () => {
      for (const [name, act] of Object.entries(acts))
        test(name, async () => {
          const [straight, through] = clients();
          // One after the other: both prompts may be in the cache of the vendor.
          await outcomeOf(act, straight);
          const expected = await outcomeOf(act, straight);
          assert.deepEqual(await outcomeOf(act, through), expected);
        });
    });
  }

  compare<MessagesClient>('@anthropic-ai/bedrock-sdk', actsOfMessages(bedrockName), () => {
    const { accessKeyId, secretAccessKey } = awsKeys();
    const common = { awsRegion: 'us-east-1', maxRetries: 0 };
    return [
      new AnthropicBedrock({
        ...common,
        baseURL: running.simulator.aws.runtimeUrl,
        awsAccessKey: accessKeyId,
        awsSecretKey: secretAccessKey,
      }),
      new AnthropicBedrock({ ...common, baseURL: weir().url, apiKey: weir().key }),
    ];
  });

  compare<BedrockRuntimeClient>('@aws-sdk/client-bedrock-runtime', actsOfInvoke(bedrockName), () => {
    // The simulated cloud speaks HTTP/1.1.
    const common = { region: 'us-east-1', maxAttempts: 1, requestHandler: new NodeHttpHandler() };
    const { accessKeyId, secretAccessKey } = awsKeys();
    return [
      new BedrockRuntimeClient({
        ...common,
        endpoint: running.simulator.aws.runtimeUrl,
        credentials: { accessKeyId, secretAccessKey },
      }),
      new BedrockRuntimeClient({
        ...common,
        endpoint: weir().url,
        token: { token: weir().key },
        authSchemePreference: ['httpBearerAuth'],
      }),
    ];
  });

  compare<CountingClient>(
    '@anthropic-ai/vertex-sdk',
    { ...actsOfMessages(vertexName), 'a count of tokens': countTokens(vertexName) },
    () => {
      const common = { region: 'global', projectId: google().project, maxRetries: 0 };
      const auth = (token: () => string) => ({ googleAuth: { getClient: async () => googleAuth(token) } as never });
      return [
        new AnthropicVertex({ ...common, baseURL: `${google().vertexUrl}/v1`, ...auth(() => google().tokens.issue('sdk').token) }),
        new AnthropicVertex({ ...common, baseURL: `${weir().url}/v1`, ...auth(() => weir().key) }),
      ];
    },
  );

  compare<GoogleGenAI>('@google/genai with vertexai', actsOfGemini, () => {
    const common = { vertexai: true, project: google().project, location: 'global' };
    return [
      new GoogleGenAI({
        ...common,
        httpOptions: { baseUrl: google().vertexUrl },
        googleAuthOptions: { authClient: googleAuth(() => google().tokens.issue('sdk').token) as never },
      }),
      new GoogleGenAI({
        ...common,
        httpOptions: { baseUrl: weir().url },
        googleAuthOptions: { authClient: googleAuth(() => weir().key) as never },
      }),
    ];
  });

  compare<CountingClient>(
    '@anthropic-ai/sdk at Foundry',
    { ...actsOfMessages('claude-prod'), 'a count of tokens': countTokens('claude-prod') },
    () => [
      // This SDK sends its key as a bearer token, and the one for Foundry sends it in this header.
      new Anthropic({ ...keyless, baseURL: `${azure().endpoint}/anthropic`, defaultHeaders: { 'x-api-key': azureKey } }),
      new Anthropic({ ...keyless, baseURL: `${weir().url}/anthropic`, defaultHeaders: { 'x-api-key': weir().key } }),
    ],
  );

  compare<AzureOpenAI>('AzureOpenAI', actsOfAzure, () => [
    new AzureOpenAI({ endpoint: azure().endpoint, apiKey: azureKey, apiVersion, maxRetries: 0 }),
    new AzureOpenAI({ endpoint: weir().url, apiKey: weir().key, apiVersion, maxRetries: 0 }),
  ]);

  const azure = () => running.simulator.azure ?? assert.fail();
});

function describeClouds({ aws, google, azure }: RunningSimulator): Readonly<Record<string, object>> {
  assert.ok(google !== undefined && azure !== undefined);
  const { accessKeyId, secretAccessKey } = aws.state.addUser();
  const common = { forwardHeaders: ['x-simulator-*'] };
  const keyed = { ...common, baseUrl: azure.endpoint, apiKey: azureKey };
  return {
    bedrock: {
      ...common,
      vendor: 'bedrock',
      region: 'us-east-1',
      baseUrl: aws.runtimeUrl,
      credential: { kind: 'aws', accessKeyId, secretAccessKey },
    },
    vertex: {
      ...common,
      vendor: 'vertex',
      baseUrl: google.vertexUrl,
      project: google.project,
      credential: { kind: 'google', from: 'metadata', metadataUrl: google.identityUrl },
    },
    foundry: { ...keyed, vendor: 'foundry' },
    azure: { ...keyed, vendor: 'azure', apiVersion },
  };
}
