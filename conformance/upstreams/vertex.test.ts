import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import AnthropicVertex from '@anthropic-ai/vertex-sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { post } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

const hello: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello' }];
const claude = 'claude-sonnet-4-5';
const geminiModel = 'gemini-2.5-flash';
const betas = 'interleaved-thinking-2025-05-14,files-api-2025-04-14,advanced-tool-use-2025-11-20';

/** Vertex AI as an upstream: calls straight to the simulated cloud and through Weir, credentials, and faults. */
describe('Vertex AI', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-vertex-'));
  const keyFile = join(directory, 'key.json');
  let simulator: RunningSimulator;
  let google: NonNullable<RunningSimulator['google']>;
  let weir: ServedWeir;
  let anthropic: Anthropic;
  let genai: GoogleGenAI;
  /** Upstreams of one model each, which differ in their credential. */
  const credentials = (): Readonly<Record<string, object>> => {
    const { identityUrl, serviceAccount, identity } = google;
    const subject = join(directory, 'subject');
    writeFileSync(subject, 'simulated-subject-token\n');
    const federation = {
      type: 'external_account',
      audience: identity.audience,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${identityUrl}/v1/token`,
      service_account_impersonation_url: `${identityUrl}/v1/projects/-/serviceAccounts/${serviceAccount}:generateAccessToken`,
      credential_source: { file: subject },
    };
    const user = {
      type: 'authorized_user',
      client_id: 'id',
      client_secret: 'secret',
      refresh_token: '1//simulated-refresh-token',
      token_uri: `${identityUrl}/token`,
    };
    writeFileSync(keyFile, JSON.stringify(google.createKeyFile()));
    return {
      'key-file': { kind: 'google', file: keyFile },
      federation: { kind: 'google', json: JSON.stringify(federation) },
      user: { kind: 'google', json: JSON.stringify(user) },
      metadata: { kind: 'google', from: 'metadata', metadataUrl: identityUrl },
    };
  };
  before(async () => {
    simulator = await startSimulator({
      google: { models: { '*': [geminiModel, 'claude-sonnet-4-5@20250929'], 'us-east5': ['claude-opus-4-6'] } },
    });
    google = simulator.google ?? assert.fail();
    const account = { vendor: 'vertex', baseUrl: google.vertexUrl, project: google.project };
    const target = (upstream: string, model: string) => ({ targets: [{ upstream, model }] });
    weir = await serveWeir({
      command: 'gateway',
      config: JSON.stringify({
        upstreams: {
          ...Object.fromEntries(Object.entries(credentials()).map(([name, credential]) => [name, { ...account, credential }])),
          express: { vendor: 'vertex', baseUrl: google.vertexUrl, apiKey: 'AIza-simulated-express-key' },
          'in-europe': { ...account, location: 'europe-west1', credential: { kind: 'google', file: keyFile } },
          'wrong-file': { ...account, credential: { kind: 'google', file: join(directory, 'missing.json') } },
        },
        models: {
          [claude]: target('key-file', 'claude-sonnet-4-5@20250929'),
          [geminiModel]: target('key-file', geminiModel),
          llama: target('key-file', 'meta/gpt-4.1'),
          'express-gemini': target('express', geminiModel),
          'claude-in-europe': target('in-europe', 'claude-sonnet-4-5@20250929'),
          'far-claude': target('key-file', 'claude-opus-4-6'),
          ...Object.fromEntries(['federation', 'user', 'metadata', 'wrong-file'].map((name) => [`by-${name}`, target(name, geminiModel)])),
        },
        retries: { attemptsMax: 1, avoidFailing: false },
      }),
    });
    anthropic = new Anthropic({ baseURL: weir.gatewayUrl, apiKey: weir.apiKey, maxRetries: 0 });
    genai = new GoogleGenAI({ apiKey: weir.apiKey, httpOptions: { baseUrl: weir.gatewayUrl } });
  });
  after(async () => {
    await weir?.[Symbol.asyncDispose]();
    await simulator.close();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    google.vertex.requests.length = 0;
    Object.assign(google.vertex, { isDisabled: false, throttledCalls: 0 });
    Object.assign(google.identity, { failingStatus: 0, throttledCalls: 0 });
  });
  const sent = () => google.vertex.requests.at(-1) ?? assert.fail('no request came');
  const refusal = async (model: string): Promise<string> => {
    const answer = await post(
      `${weir.gatewayUrl}/v1/chat/completions`,
      { model, messages: [{ role: 'user', content: 'x' }] },
      { authorization: `Bearer ${weir.apiKey}` },
    );
    return `${answer.status} ${answer.json.error.code}`;
  };

  test('Claude in a region costs a tenth more than at the global endpoint, and the receipt names the region', async () => {
    for (const [model, region] of [
      [claude, 'global'],
      ['claude-in-europe', 'europe-west1'],
    ] as const) {
      const { response } = await anthropic.messages.create({ model, max_tokens: 100, messages: hello }).withResponse();
      const receipt = await fetch(`${weir.gatewayUrl}${response.headers.get('x-weir-receipt')}`, { headers: { 'x-api-key': weir.apiKey } });
      const { rows } = (await receipt.json()) as { rows: { pricing_parameters: object; lines: { multipliers: object }[] }[] };
      assert.deepEqual(rows[0]?.pricing_parameters, { region });
      for (const { multipliers } of rows[0]?.lines ?? assert.fail())
        assert.deepEqual(multipliers, region === 'global' ? {} : { regional_endpoint: '1.1' });
    }
  });

  test('Claude: the request is that of Anthropic’s own SDK for Vertex AI, with the flags that are known there', async () => {
    const own = new AnthropicVertex({
      baseURL: `${google.vertexUrl}/v1`,
      region: 'global',
      projectId: google.project,
      googleAuth: {
        getClient: async () => ({
          getRequestHeaders: async () => new Headers({ authorization: `Bearer ${google.tokens.issue('sdk').token}` }),
        }),
      } as never,
      maxRetries: 0,
    });
    for (const stream of [false, true]) {
      const body = { max_tokens: 100, messages: hello, stream };
      const reply = await own.messages.create({ ...body, model: 'claude-sonnet-4-5@20250929' });
      if (Symbol.asyncIterator in reply) for await (const event of reply) void event;
      const straight = sent();
      const { data } = await anthropic.messages.create({ ...body, model: claude }, { headers: { 'anthropic-beta': betas } }).withResponse();
      if (Symbol.asyncIterator in data) for await (const event of data) void event;
      const through = sent();
      assert.equal(through.url, straight.url);
      assert.equal(through.status, 200);
      const expected = JSON.parse(straight.body.toString()) as Record<string, unknown>;
      assert.deepEqual(JSON.parse(through.body.toString()), { ...expected, anthropic_version: 'vertex-2023-10-16' });
      assert.equal(through.headers['anthropic-beta'], 'interleaved-thinking-2025-05-14,tool-search-tool-2025-10-19');
      assert.equal(through.headers['anthropic-version'], undefined);
    }
  });

  test('Claude: a dropped flag is named to the client, and counting sends none', async () => {
    const options = { headers: { 'anthropic-beta': betas } };
    const { response } = await anthropic.messages.create({ model: claude, max_tokens: 10, messages: hello }, options).withResponse();
    assert.match(response.headers.get('x-gateway-warning') ?? '', /files-api-2025-04-14/);
    const { input_tokens: tokens } = await anthropic.messages.countTokens({ model: claude, messages: hello }, options);
    assert.ok(tokens > 0);
    assert.match(sent().url, /publishers\/anthropic\/models\/count-tokens:rawPredict$/);
    assert.equal(sent().headers['anthropic-beta'], undefined);
  });

  test('Gemini: the request is that of Google’s SDK with vertexai', async () => {
    const own = new GoogleGenAI({
      vertexai: true,
      project: google.project,
      location: 'global',
      httpOptions: { baseUrl: google.vertexUrl },
      googleAuthOptions: {
        authClient: {
          getRequestHeaders: async () => new Headers({ authorization: `Bearer ${google.tokens.issue('sdk').token}` }),
        } as never,
      },
    });
    for (const call of [
      (client: GoogleGenAI) => client.models.generateContent({ model: geminiModel, contents: 'Hello' }),
      async (client: GoogleGenAI) => {
        for await (const chunk of await client.models.generateContentStream({ model: geminiModel, contents: 'Hello' })) void chunk;
      },
      (client: GoogleGenAI) => client.models.countTokens({ model: geminiModel, contents: 'Hello' }),
    ]) {
      await call(own);
      const straight = sent();
      await call(genai);
      assert.equal(sent().url, straight.url);
      assert.deepEqual(JSON.parse(sent().body.toString()), JSON.parse(straight.body.toString()));
    }
  });

  test('every dialect reaches Claude, Gemini and models with chat completions', async () => {
    const openai = new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey: weir.apiKey, maxRetries: 0 });
    for (const model of [claude, geminiModel, 'llama']) {
      const chat = await openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 });
      assert.ok(chat.choices[0]?.message.content, model);
      const response = await openai.responses.stream({ model, input: 'Hello', max_output_tokens: 50 }).finalResponse();
      assert.ok(response.output_text, model);
      assert.ok(await anthropic.messages.stream({ model, max_tokens: 50, messages: hello }).finalText(), model);
      assert.ok((await genai.models.generateContent({ model, contents: 'Hello', config: { maxOutputTokens: 50 } })).text, model);
    }
    assert.match(google.vertex.requests.map(({ url }) => url).join('\n'), /endpoints\/openapi\/chat\/completions/);
  });

  for (const source of ['federation', 'user', 'metadata']) {
    test(`a credential by ${source}`, async () => {
      assert.ok((await genai.models.generateContent({ model: `by-${source}`, contents: 'Hello' })).text);
      assert.match(sent().headers['authorization'] ?? '', /^Bearer ya29\./);
    });
  }

  test('an express key has no project in the path and no token', async () => {
    assert.ok((await genai.models.generateContent({ model: 'express-gemini', contents: 'Hello' })).text);
    assert.equal(sent().url, `/v1beta1/publishers/google/models/${geminiModel}:generateContent`);
    assert.equal(sent().headers['authorization'], undefined);
  });

  test('calls are priced as those of the maker', async () => {
    const { response } = await anthropic.messages.create({ model: claude, max_tokens: 10, messages: hello }).withResponse();
    const receipt = await fetch(`${weir.gatewayUrl}${response.headers.get('x-weir-receipt')}`, { headers: { 'x-api-key': weir.apiKey } });
    assert.equal(receipt.status, 200);
    const text = await receipt.text();
    assert.match(text, /"nano_usd":"[1-9]\d*"/);
  });

  test('one token serves many calls, and a revoked one is replaced without a failed call', async () => {
    const before = google.identity.requests.filter(({ kind }) => kind === 'token').length;
    const ask = () => genai.models.generateContent({ model: geminiModel, contents: 'Hello' });
    await Promise.all(Array.from({ length: 10 }, ask));
    assert.equal(google.identity.requests.filter(({ kind }) => kind === 'token').length, before);
    // A token that was fetched within the last second is not replaced.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    google.tokens.revoke();
    await Promise.all(Array.from({ length: 5 }, ask));
    assert.equal(google.identity.requests.filter(({ kind }) => kind === 'token').length, before + 1);
  });

  test('a valid token is used while the token server is unreachable', async () => {
    google.identity.failingStatus = 503;
    assert.ok((await genai.models.generateContent({ model: geminiModel, contents: 'Hello' })).text);
  });

  test('the usual faults of a set-up are refusals that name no project and no token', async () => {
    google.vertex.isDisabled = true;
    assert.equal(await refusal(geminiModel), '503 upstream_credentials_rejected');
    google.vertex.isDisabled = false;
    google.vertex.withoutRole.add(google.serviceAccount);
    assert.equal(await refusal(claude), '503 upstream_credentials_rejected');
    google.vertex.withoutRole.clear();
    assert.equal(await refusal('far-claude'), '404 model_not_found');
    assert.match(await refusal('by-wrong-file'), /^503 /);
    google.vertex.throttledCalls = 1;
    assert.equal(await refusal(geminiModel), '429 rate_limit_exceeded');
    google.vertex.throttledCalls = 1;
    await assert.rejects(anthropic.messages.create({ model: claude, max_tokens: 10, messages: hello }), Anthropic.RateLimitError);
  });

  test('a stream that is refused is an error of the client’s dialect, although it comes in an array', async () => {
    google.vertex.throttledCalls = 1;
    const stream = anthropic.messages.stream({ model: claude, max_tokens: 10, messages: hello });
    await assert.rejects(stream.finalMessage(), Anthropic.RateLimitError);
  });
});
