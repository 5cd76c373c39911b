import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import AnthropicFoundry from '@anthropic-ai/foundry-sdk';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { AzureOpenAI, toFile } from 'openai';

import { azureTenant } from '../../simulator/src/clouds/azure/azure-cloud.ts';
import { call, eventually } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';

const apiVersion = '2025-04-01-preview';

/** Chats of all four dialects, with a text that the simulated filter can refuse. */
const clients = {
  'openai-chat': (model: string, text: string, stream: boolean) => ({
    path: '/v1/chat/completions',
    body: { model, stream, messages: [{ role: 'user', content: text }] },
  }),
  'openai-responses': (model: string, text: string, stream: boolean) => ({ path: '/v1/responses', body: { model, stream, input: text } }),
  'anthropic-messages': (model: string, text: string, stream: boolean) => ({
    path: '/v1/messages',
    body: { model, stream, max_tokens: 300, messages: [{ role: 'user', content: text }] },
  }),
  'gemini-generate-content': (model: string, text: string, stream: boolean) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text }] }] },
  }),
} as const;

/** The identities that a machine or a pod has, and those that it is refused. */
const identities = ['workload', 'managed', 'managed-by-id', 'app'] as const;
const refused = [
  ['workload-unbound', /AADSTS700016: the application does not exist in this tenant: check clientId and tenantId/],
  ['workload-no-file', /tokenFile \(AZURE_FEDERATED_TOKEN_FILE\) names .*\.none, which cannot be read \(ENOENT\)/],
  ['managed-stranger', /this machine has no such managed identity: assign one, or correct clientId/],
  ['app-stranger', /managed identity \(App Service\): this machine has no such managed identity/],
] as const;

describe('Azure OpenAI', () => {
  let running: SimulatedWeir;
  const directory = mkdtempSync(join(tmpdir(), 'weir-azure-'));
  const tokenFile = join(directory, 'token');
  before(async () => {
    const { tenantId, clientId, clientSecret, assertion, managedIdentity, identityHeader } = azureTenant;
    writeFileSync(tokenFile, `${assertion}\n`);
    running = await startSimulatedGateway({
      simulator: { azure: { keys: ['azure-key-1'], tokenSeconds: 3600 } },
      variables: ({ azure }) => ({ IDENTITY_ENDPOINT: azure?.identityEndpoint ?? '', IDENTITY_HEADER: identityHeader }),
      retries: { attemptsMax: 3, avoidFailing: false, holdOpeningMs: 60_000 },
      clouds: (simulator) => {
        const { endpoint: baseUrl, loginUrl, metadataUrl } = simulator.azure ?? assert.fail();
        const workload = { kind: 'azure', from: 'workload-identity', tenantId, loginUrl };
        const machine = { kind: 'azure', from: 'instance', metadataUrl };
        const azure = { vendor: 'azure', baseUrl, forwardHeaders: ['x-simulator-*'] };
        return {
          v1: { ...azure, apiKey: 'azure-key-1' },
          dated: { ...azure, apiKey: 'azure-key-1', apiVersion },
          chats: { ...azure, apiKey: 'azure-key-1', dialects: ['openai-chat'] },
          claude: { ...azure, vendor: 'foundry', apiKey: 'azure-key-1' },
          'claude-entra': {
            ...azure,
            vendor: 'foundry',
            credential: { kind: 'azure', from: 'client-secret', tenantId, clientId, clientSecret, loginUrl },
          },
          'claude-stranger': { ...azure, vendor: 'foundry', apiKey: 'not-a-key' },
          secret: { ...azure, credential: { kind: 'azure', from: 'client-secret', tenantId, clientId, clientSecret, loginUrl } },
          workload: { ...azure, credential: { ...workload, clientId, tokenFile } },
          'workload-unbound': { ...azure, credential: { ...workload, clientId: 'nobody', tokenFile } },
          'workload-no-file': { ...azure, credential: { ...workload, clientId, tokenFile: `${tokenFile}.none` } },
          managed: { ...azure, credential: machine },
          'managed-by-id': { ...azure, credential: { ...machine, clientId: managedIdentity } },
          'managed-stranger': { ...azure, credential: { ...machine, clientId: 'another-identity' } },
          app: { ...azure, credential: { kind: 'azure', from: 'app-service' } },
          'app-stranger': { ...azure, credential: { kind: 'azure', from: 'app-service', clientId: 'another-identity' } },
          'dated-managed': { ...azure, apiVersion, credential: { kind: 'azure', from: 'instance', metadataUrl } },
        };
      },
      models: {
        ...Object.fromEntries(
          ['v1', 'dated', 'chats', 'secret', 'dated-managed', ...identities, ...refused.map(([upstream]) => upstream)].map((upstream) => [
            upstream,
            { targets: [{ upstream, model: 'chat-prod', is: 'gpt-4.1' }] },
          ]),
        ),
        ...Object.fromEntries(
          ['claude', 'claude-entra', 'claude-stranger'].map((upstream) => [
            upstream,
            { targets: [{ upstream, model: 'claude-prod', is: 'claude-sonnet-4-5' }] },
          ]),
        ),
        async: { targets: [{ upstream: 'chats', model: 'chat-async', is: 'gpt-4.1' }] },
        fallback: {
          targets: [
            { upstream: 'v1', model: 'chat-prod', is: 'gpt-4.1' },
            { upstream: 'openai', model: 'gpt-4.1' },
          ],
        },
        'embed-v1': { targets: [{ upstream: 'v1', model: 'embed-prod', is: 'text-embedding-3-small' }] },
        'embed-dated': { targets: [{ upstream: 'dated', model: 'embed-prod', is: 'text-embedding-3-small' }] },
        'speech-dated': { targets: [{ upstream: 'dated', model: 'speech-prod', is: 'gpt-4o-mini-tts' }] },
        'hear-dated': { targets: [{ upstream: 'dated', model: 'hearing-prod', is: 'gpt-4o-mini-transcribe' }] },
        film: { targets: [{ upstream: 'v1', model: 'sora-2', is: 'sora-2' }] },
        'image-dated': { targets: [{ upstream: 'dated', model: 'image-prod', is: 'gpt-image-1' }] },
        missing: { targets: [{ upstream: 'v1', model: 'nothing-deployed', is: 'gpt-4.1' }] },
      },
    });
  });
  after(async () => {
    await running[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  const cloud = () => {
    const { azure } = running.simulator;
    assert.ok(azure);
    return azure;
  };
  const ask = (dialect: keyof typeof clients, model: string, text: string, options: { stream?: boolean; steer?: string } = {}) => {
    const { path, body } = clients[dialect](model, text, options.stream ?? false);
    return call(`${running.weir.gatewayUrl}${path}`, {
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        authorization: `Bearer ${running.weir.apiKey}`,
        ...(options.steer === undefined ? {} : { 'x-simulator-stop': options.steer }),
      },
      body: JSON.stringify(body),
    });
  };
  const lastRequest = () => {
    const request = cloud().resource.requests.at(-1);
    assert.ok(request);
    return request;
  };

  for (const [model, url, header] of [
    ['v1', '/openai/v1/chat/completions', 'api-key'],
    ['dated', `/openai/deployments/chat-prod/chat/completions?api-version=${apiVersion}`, 'api-key'],
    ['secret', '/openai/v1/chat/completions', 'authorization'],
    ['dated-managed', `/openai/deployments/chat-prod/chat/completions?api-version=${apiVersion}`, 'authorization'],
  ] as const) {
    test(`${model}: a chat goes to ${url}, with its credential in ${header}, at the price of the model behind it`, async () => {
      const answer = await ask('openai-chat', model, 'Hello');
      assert.equal(answer.status, 200, answer.text);
      const { url: asked, headers } = lastRequest();
      assert.equal(asked, url);
      assert.ok(headers[header]);
      assert.equal(headers['authorization'] !== undefined && headers['api-key'] !== undefined, false, 'one credential');
      const receipt = await call(`${running.weir.gatewayUrl}${new URL(String(answer.headers['x-weir-receipt']), 'http://weir').pathname}`, {
        headers: { authorization: `Bearer ${running.weir.apiKey}` },
      });
      // The deployment has no price; the model that `is` names has.
      assert.ok(Number(receipt.json?.rows?.[0]?.amount?.nano_usd) > 0, receipt.text);
    });
  }

  for (const [model, url, body] of [
    ['embed-v1', '/openai/v1/embeddings', { path: '/v1/embeddings', input: 'Hello' }],
    ['embed-dated', `/openai/deployments/embed-prod/embeddings?api-version=${apiVersion}`, { path: '/v1/embeddings', input: 'Hello' }],
    [
      'speech-dated',
      `/openai/deployments/speech-prod/audio/speech?api-version=${apiVersion}`,
      { path: '/v1/audio/speech', input: 'Hello', voice: 'alloy', response_format: 'wav' },
    ],
    [
      'image-dated',
      `/openai/deployments/image-prod/images/generations?api-version=${apiVersion}`,
      { path: '/v1/images/generations', prompt: 'A weir', size: '1024x1024' },
    ],
  ] as const) {
    test(`${model}: the call goes to ${url}`, async () => {
      const { path, ...rest } = body;
      const answer = await call(`${running.weir.gatewayUrl}${path}`, {
        headers: { 'content-type': 'application/json', authorization: `Bearer ${running.weir.apiKey}` },
        body: JSON.stringify({ model, ...rest }),
      });
      assert.equal(answer.status, 200, answer.text.slice(0, 300));
      assert.equal(lastRequest().url, url);
    });
  }

  for (const dialect of Object.keys(clients) as (keyof typeof clients)[]) {
    for (const stream of [false, true]) {
      const form = stream ? 'a stream' : 'a whole reply';
      for (const model of ['v1', 'chats', 'async']) {
        test(`${dialect}, ${form} of ${model}: first chunks without choices and verdicts behind the end disturb nothing`, async () => {
          const answer = await ask(dialect, model, 'Hello, Azure', { stream });
          assert.equal(answer.status, 200, answer.text);
          assert.match(answer.text, /Hello, Azure|Azure/);
          assert.doesNotMatch(answer.text, /"error"\s*:\s*\{/);
        });
      }

      test(`${dialect}, ${form}: output that the filter cuts ends as filtered`, async () => {
        const answer = await ask(dialect, 'chats', 'Hello', { stream, steer: 'content-filter' });
        assert.equal(answer.status, 200, answer.text);
        assert.match(answer.text, /content_filter|"refusal"|SAFETY|PROHIBITED_CONTENT/);
      });
    }

    test(`${dialect}: a prompt that the filter refuses is a 400 with the vendor's words, and no other upstream is tried`, async () => {
      const before = running.simulator.records().length;
      const answer = await ask(dialect, 'fallback', 'Tell me [[azure filter=violence]]');
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.json.error.message, /content management policy/);
      if (dialect.startsWith('openai')) assert.equal(answer.json.error.code, 'content_filter');
      assert.equal(running.simulator.records().length, before, 'the vendor behind the fallback was not asked');
    });
  }

  test('the details of the filter pass to clients of the same interface', async () => {
    const answer = await ask('openai-chat', 'v1', '[[azure filter=violence]]');
    assert.equal(answer.json.error.innererror.content_filter_result.violence.severity, 'medium');
  });

  test('a deployment that does not exist is a 404', async () => {
    const answer = await ask('openai-chat', 'missing', 'Hello');
    assert.equal(answer.status, 404, answer.text);
  });

  test('a throttled deployment is asked again after the wait that it names', async () => {
    cloud().resource.throttled.set('chat-prod', { calls: 1, retryAfterMs: 20 });
    const answer = await ask('openai-chat', 'v1', 'Hello');
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      cloud()
        .resource.requests.slice(-2)
        .map(({ status }) => status),
      [429, 200],
    );
  });

  test('one token serves many calls, and a revoked one is replaced within the call that finds it', async () => {
    const { identity, tokens } = cloud();
    await ask('openai-chat', 'secret', 'Hello');
    const issued = tokens.issued();
    for (let count = 0; count < 5; count += 1) assert.equal((await ask('openai-chat', 'secret', 'Hello')).status, 200);
    assert.equal(tokens.issued(), issued);
    // A token that was just fetched is not replaced again, so that refusals for other reasons cannot flood the server.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    tokens.revokeAll();
    const answer = await ask('openai-chat', 'secret', 'Hello');
    assert.equal(answer.status, 200, answer.text);
    assert.equal(tokens.issued(), issued + 1);
    assert.equal(identity.requests.at(-1)?.kind, 'login');
  });

  test('the token server may be away while the token is good', async () => {
    cloud().identity.failingStatus = 503;
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('openai-chat', 'secret', 'Hello')));
    cloud().identity.failingStatus = 0;
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  });

  for (const [model, header] of [
    ['claude', 'x-api-key'],
    ['claude-entra', 'authorization'],
  ] as const) {
    for (const dialect of Object.keys(clients) as (keyof typeof clients)[]) {
      for (const stream of [false, true]) {
        test(`${model}: ${stream ? 'a stream' : 'a whole reply'} for ${dialect} comes from Foundry, with its credential in ${header}`, async () => {
          const answer = await ask(dialect, model, 'Hello, Foundry', { stream });
          assert.equal(answer.status, 200, answer.text);
          assert.match(answer.text, /Foundry/);
          const { url, headers, body } = lastRequest();
          assert.equal(url, '/anthropic/v1/messages');
          assert.equal(JSON.parse(body.toString()).model, 'claude-prod');
          assert.equal(headers['anthropic-version'], '2023-06-01');
          const credentials = ['api-key', 'x-api-key', 'authorization'].filter((name) => headers[name] !== undefined);
          assert.deepEqual(credentials, [header]);
        });
      }
    }
  }

  test('Foundry counts the tokens of a request', async () => {
    const answer = await call(`${running.weir.gatewayUrl}/v1/messages/count_tokens`, {
      headers: { 'content-type': 'application/json', 'x-api-key': running.weir.apiKey, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: 'claude', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(answer.json.input_tokens > 0);
    assert.equal(lastRequest().url, '/anthropic/v1/messages/count_tokens');
  });

  test("a key that Foundry refuses is the operator's problem, and the client receives no part of it", async () => {
    const answer = await ask('anthropic-messages', 'claude-stranger', 'Hello');
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.json.type, 'error');
    assert.doesNotMatch(answer.text, /not-a-key/);
  });

  test('the official SDK gets the same answer straight from Azure and through Weir', async () => {
    const messages = [{ role: 'user' as const, content: 'The same' }];
    const { endpoint } = cloud();
    const straight = new AzureOpenAI({ endpoint, apiKey: 'azure-key-1', apiVersion, deployment: 'chat-prod' });
    const through = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey });
    const own = await straight.chat.completions.create({ model: 'chat-prod', messages });
    const asked = lastRequest();
    const passed = await through.chat.completions.create({ model: 'dated', messages });
    const sent = lastRequest();
    assert.equal(sent.url, asked.url);
    assert.deepEqual(JSON.parse(sent.body.toString()), JSON.parse(asked.body.toString()));
    assert.deepEqual(passed.choices, own.choices);
    assert.deepEqual(passed.usage, own.usage);
  });

  for (const [model, kind, whose] of [
    ['workload', 'login', azureTenant.clientId],
    ['managed', 'metadata', azureTenant.managedIdentity],
    ['managed-by-id', 'metadata', azureTenant.managedIdentity],
    ['app', 'app-service', azureTenant.managedIdentity],
  ] as const)
    test(`${model}: the token of the identity serves calls, and is fetched again when it is revoked`, async () => {
      const { identity, tokens } = cloud();
      const used = () => tokens.find(String(lastRequest().headers['authorization']).replace('Bearer ', ''));
      assert.equal((await ask('openai-chat', model, 'Hello')).status, 200);
      assert.deepEqual([identity.requests.at(-1), used()?.clientId], [{ kind, status: 200 }, whose]);
      assert.equal((await ask('openai-chat', model, 'Hello', { stream: true })).status, 200);
      await new Promise((resolve) => setTimeout(resolve, 1100));
      tokens.revokeAll();
      assert.equal((await ask('openai-chat', model, 'Hello')).status, 200);
      assert.equal(used()?.clientId, whose);
    });

  test('workload identity: the token of the pod is read again for each login', async () => {
    const { identity, tokens } = cloud();
    const [{ assertions } = assert.fail()] = identity.applications;
    assert.equal((await ask('openai-chat', 'workload', 'Hello')).status, 200);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    assertions.clear();
    assertions.add('the-next-token-of-the-pod');
    writeFileSync(tokenFile, 'the-next-token-of-the-pod\n');
    tokens.revokeAll();
    assert.equal((await ask('openai-chat', 'workload', 'Hello')).status, 200);
  });

  for (const [model, words] of refused)
    test(`${model}: the client gets no details, and the log says what to correct`, async () => {
      const answer = await ask('openai-chat', model, 'Hello');
      assert.equal(answer.status, 503, answer.text);
      assert.match(answer.json.error.message, /no valid credential for the model service at present/);
      await eventually(
        () => running.weir.output(),
        (output) => words.test(output),
      );
    });

  test('AzureOpenAI makes speech and transcripts straight at Azure and through Weir: the same paths and the same results', async () => {
    const both = clientsOf({ endpoint: cloud().endpoint, key: 'azure-key-1', speech: 'speech-prod', hearing: 'hearing-prod' });
    const through = clientsOf({
      endpoint: running.weir.gatewayUrl,
      key: running.weir.apiKey,
      speech: 'speech-dated',
      hearing: 'hear-dated',
    });
    const own = await both.speak();
    const spoken = lastRequest();
    const sound = await through.speak();
    assert.equal(lastRequest().url, spoken.url);
    assert.deepEqual(JSON.parse(lastRequest().body.toString()), JSON.parse(spoken.body.toString()));
    assert.ok(sound.equals(own) && sound.toString('latin1', 0, 4) === 'RIFF');
    const heard = await both.hear(own);
    const path = lastRequest().url;
    assert.deepEqual((await through.hear(sound)).text, heard.text);
    assert.equal(lastRequest().url, path);
  });

  for (const [client, clientOf] of [
    ['OpenAI', (baseURL: string, apiKey: string) => new OpenAI({ baseURL, apiKey, maxRetries: 0 })],
    ['AzureOpenAI', (baseURL: string, apiKey: string) => new AzureOpenAI({ baseURL, apiKey, apiVersion: 'preview', maxRetries: 0 })],
  ] as const)
    test(`a video of Sora is made straight at Azure and through Weir by ${client}, with the same request`, async () => {
      const straight = clientOf(`${cloud().endpoint}/openai/v1`, 'azure-key-1');
      const { gatewayUrl, apiKey } = running.weir;
      const through = clientOf(`${gatewayUrl}/openai/v1`, apiKey);
      const film = { prompt: 'A weir in the rain', seconds: '4', size: '1280x720' } as const;
      const make = async (client: OpenAI, model: string) => {
        const { id } = await client.videos.create({ ...film, model }, { headers: { 'x-simulator-video': 'ms=200' } });
        const done = await eventually(
          () => client.videos.retrieve(id),
          ({ status }) => status === 'completed' || status === 'failed',
          60_000,
        );
        const content = Buffer.from(await (await client.videos.downloadContent(id)).arrayBuffer());
        return { status: done.status, seconds: done.seconds, size: done.size, isMp4: content.toString('latin1', 4, 8) === 'ftyp' };
      };
      const submissions = () => cloud().resource.requests.filter(({ method, url }) => method === 'POST' && url.endsWith('/videos'));
      const own = await make(straight, 'sora-2');
      const passed = await make(through, 'film');
      assert.deepEqual(passed, own);
      assert.deepEqual(own, { status: 'completed', seconds: '4', size: '1280x720', isMp4: true });
      const [first, second] = submissions().slice(-2);
      assert.equal(second?.url.replace(/\?.*/, ''), first?.url.replace(/\?.*/, ''));
      assert.equal(second?.headers['api-key'], 'azure-key-1');
    });

  test('the SDK of Foundry gets the same straight from it, in its own mode at Weir, and by the SDK of Anthropic', async () => {
    const { gatewayUrl, apiKey } = running.weir;
    const straight = new AnthropicFoundry({ baseURL: `${cloud().endpoint}/anthropic`, apiKey: 'azure-key-1', maxRetries: 0 });
    const own = new AnthropicFoundry({ baseURL: `${gatewayUrl}/anthropic`, apiKey, maxRetries: 0 });
    const usual = new Anthropic({ baseURL: gatewayUrl, apiKey, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'The same' }];
    const tools = [{ name: 'weather', input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } } }];
    const plain = (message: Anthropic.Message) =>
      JSON.parse(
        JSON.stringify([message.content, message.usage, message.stop_reason]).replaceAll(/"(?:id|signature)":"[^"]*"/g, '"id":""'),
      );
    for (const more of [{}, { tools }]) {
      const request = { max_tokens: 200, messages, ...more };
      const expected = await straight.messages.create({ ...request, model: 'claude-prod' });
      const sent = lastRequest();
      for (const client of [own, usual]) {
        assert.deepEqual(plain(await client.messages.create({ ...request, model: 'claude' })), plain(expected));
        assert.equal(lastRequest().url, sent.url);
        assert.deepEqual(JSON.parse(lastRequest().body.toString()), JSON.parse(sent.body.toString()));
        const streamed = await client.messages.stream({ ...request, model: 'claude' }).finalMessage();
        const streamedThere = await straight.messages.stream({ ...request, model: 'claude-prod' }).finalMessage();
        assert.deepEqual(plain(streamed), plain(streamedThere));
      }
    }
    await assert.rejects(straight.messages.create({ model: 'nothing', max_tokens: 5, messages }), Anthropic.NotFoundError);
    await assert.rejects(own.messages.create({ model: 'nothing', max_tokens: 5, messages }), Anthropic.NotFoundError);
  });
});

/** Azure's own client, once for each deployment. */
function clientsOf({
  endpoint,
  key,
  speech,
  hearing,
}: {
  readonly endpoint: string;
  readonly key: string;
  readonly speech: string;
  readonly hearing: string;
}) {
  const clientOf = (deployment: string) => new AzureOpenAI({ endpoint, apiKey: key, apiVersion, deployment, maxRetries: 0 });
  return {
    speak: async () => {
      const sound = await clientOf(speech).audio.speech.create({
        model: 'speech-prod',
        voice: 'alloy',
        input: 'A weir.',
        response_format: 'wav',
      });
      return Buffer.from(await sound.arrayBuffer());
    },
    hear: async (sound: Buffer) =>
      await clientOf(hearing).audio.transcriptions.create({
        model: 'hearing-prod',
        file: await toFile(sound, 'weir.wav'),
        response_format: 'json',
      }),
  };
}
