import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { AnthropicAws } from '@anthropic-ai/aws-sdk';
import { AnthropicGoogleCloud } from '@anthropic-ai/google-cloud-sdk';

import { runDoctor } from '../../src/main/doctor/run-doctor.ts';
import { readEnvironment } from '../../src/main/environment.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type Answer, call, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { actsOfMessages, countTokens, type CountingClient, outcomeOf } from './acts-of-clients.ts';
import { startSimulatedGateway, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';

const claude = 'claude-sonnet-4-5';

/** Anthropic's own interface, sold by two clouds: their credentials, and nothing else is different. */
describe('the Claude Platform on AWS and on Google Cloud', () => {
  let running: SimulatedWeir;
  before(async () => {
    running = await startSimulatedGateway({
      simulator: { apiKeys: [upstreamKey], google: {} },
      retries: { attemptsMax: 1, avoidFailing: false, holdOpeningMs: 60_000 },
      clouds: ({ aws, google }) => {
        assert.ok(google);
        const { accessKeyId, secretAccessKey } = aws.state.addUser();
        const { url: awsUrl, workspace } = aws.claudePlatform;
        const onAws = { vendor: 'claude-aws', region: 'us-east-1', workspace, baseUrl: awsUrl, forwardHeaders: ['x-simulator-*'] };
        const role = { roleArn: 'arn:aws:iam::123456789012:role/weir', stsUrl: aws.tokensUrl };
        const credential = { kind: 'aws', accessKeyId, secretAccessKey };
        const { platform } = google;
        const onGoogle = {
          vendor: 'claude-google',
          project: google.project,
          workspace: platform.state.workspace,
          baseUrl: platform.url,
          forwardHeaders: ['x-simulator-*'],
          credential: { kind: 'google', from: 'metadata', metadataUrl: google.identityUrl },
        };
        return {
          'aws-signed': { ...onAws, credential },
          'aws-role': { ...onAws, credential: { ...credential, ...role } },
          'aws-key': { ...onAws, apiKey: upstreamKey },
          'aws-stranger': { ...onAws, apiKey: 'sk-stranger-0123456789' },
          'aws-elsewhere': { ...onAws, credential, workspace: 'wrkspc_elsewhere' },
          'google-token': onGoogle,
          'google-elsewhere': { ...onGoogle, workspace: 'wrkspc_elsewhere' },
        };
      },
      models: Object.fromEntries(
        ['aws-signed', 'aws-role', 'aws-key', 'aws-stranger', 'aws-elsewhere', 'google-token', 'google-elsewhere'].map((upstream) => [
          upstream,
          { targets: [{ upstream, model: claude }] },
        ]),
      ),
    });
  });
  after(() => running[Symbol.asyncDispose]());

  const aws = () => running.simulator.aws.state;
  const google = () => running.simulator.google ?? assert.fail();
  const credential = (): Readonly<Record<string, string>> => ({ authorization: `Bearer ${running.weir.apiKey}` });
  const ask = (model: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    post(
      `${running.weir.gatewayUrl}/v1/messages`,
      { model, max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
      { 'anthropic-version': '2023-06-01', ...credential(), ...headers },
    );
  const sentToAws = () => aws().requests.at(-1) ?? assert.fail('no request came');
  const sentToGoogle = () => google().platform.state.requests.at(-1) ?? assert.fail('no request came');

  for (const model of ['aws-signed', 'aws-role', 'aws-key', 'google-token'])
    test(`clients of every interface reach ${model}, whole and as a stream`, async () => {
      for (const api of chatInterfaces)
        for (const streams of [false, true]) {
          const url = `${running.weir.gatewayUrl}${api.path(model, streams)}`;
          const { status, text } = await post(url, api.body(model, 'Hello', streams), { ...api.headers, ...credential() });
          assert.equal(status, 200, `${api.dialect} ${text}`);
          if (streams) assert.match(text, api.terminal, api.dialect);
        }
    });

  test('a request is that of Anthropic’s interface, with its betas and the workspace; a client cannot choose the workspace', async () => {
    const betas = { 'anthropic-beta': 'files-api-2025-04-14,code-execution-2025-05-22', 'anthropic-workspace-id': 'wrkspc_of_client' };
    assert.equal((await ask('aws-signed', betas)).status, 200);
    const { target, headers, body } = sentToAws();
    assert.equal(target, '/v1/messages');
    assert.equal(headers['anthropic-beta'], betas['anthropic-beta']);
    assert.equal(headers['anthropic-workspace-id'], running.simulator.aws.claudePlatform.workspace);
    assert.equal(JSON.parse(body.toString()).model, claude);
    assert.match(String(headers.authorization), /^AWS4-HMAC-SHA256 Credential=[^,]+\/us-east-1\/aws-external-anthropic\/aws4_request/);
    assert.equal((await ask('google-token', betas)).status, 200);
    const { project, platform } = google();
    const path = `/v1/projects/${project}/locations/global/workspaces/${platform.state.workspace}/invoke/v1/messages`;
    assert.equal(sentToGoogle().url, path);
    assert.equal(sentToGoogle().headers['anthropic-beta'], betas['anthropic-beta']);
    assert.equal(sentToGoogle().headers['x-api-key'], undefined);
  });

  for (const [model, counts] of [
    ['aws-signed', () => sentToAws().target],
    ['google-token', () => sentToGoogle().url],
  ] as const)
    test(`${model} counts the tokens of a request, and is charged at Anthropic's price`, async () => {
      const counted = await post(
        `${running.weir.gatewayUrl}/v1/messages/count_tokens`,
        { model, messages: [{ role: 'user', content: 'Hello' }] },
        { 'anthropic-version': '2023-06-01', ...credential() },
      );
      assert.ok(counted.json.input_tokens > 0, counted.text);
      assert.match(counts(), /\/v1\/messages\/count_tokens$/);
      const charges: unknown[] = [];
      for (const asked of [model, claude]) {
        const answer = await ask(asked);
        const path = new URL(String(answer.headers['x-weir-receipt']), 'http://weir').pathname;
        const { json } = await call(`${running.weir.gatewayUrl}${path}`, { headers: credential() });
        const { amount, lines } = json.rows[0];
        charges.push(lines.map(({ multipliers, ...line }: { multipliers?: object }) => ({ ...line, factors: multipliers ?? {} })));
        assert.ok(Number(amount.nano_usd) > 0);
      }
      const prices = (lines: unknown) =>
        (lines as { meter: string; unit_price: unknown }[]).map(({ meter, unit_price }) => [meter, unit_price]);
      assert.deepEqual(prices(charges[0]), prices(charges[1]));
    });

  /** The SDK of the platform, at the simulated service and at Weir, where only address and credential are others. */
  const judges = [
    [
      'AnthropicAws, signed',
      'aws-signed',
      () => {
        const { accessKeyId, secretAccessKey } = aws().addUser();
        const { url: baseURL, workspace: workspaceId } = running.simulator.aws.claudePlatform;
        const keys = { awsAccessKey: accessKeyId, awsSecretAccessKey: secretAccessKey };
        return new AnthropicAws({ baseURL, workspaceId, awsRegion: 'us-east-1', ...keys, maxRetries: 0 });
      },
      () => new AnthropicAws({ baseURL: running.weir.gatewayUrl, workspaceId: 'any', apiKey: running.weir.apiKey, maxRetries: 0 }),
      () => ({ url: sentToAws().target, headers: sentToAws().headers, body: sentToAws().body }),
    ],
    [
      'AnthropicAws, with a key',
      'aws-key',
      () => {
        const { url: baseURL, workspace: workspaceId } = running.simulator.aws.claudePlatform;
        return new AnthropicAws({ baseURL, workspaceId, awsRegion: 'us-east-1', apiKey: upstreamKey, maxRetries: 0 });
      },
      () => new AnthropicAws({ baseURL: running.weir.gatewayUrl, workspaceId: 'any', apiKey: running.weir.apiKey, maxRetries: 0 }),
      () => ({ url: sentToAws().target, headers: sentToAws().headers, body: sentToAws().body }),
    ],
    [
      'AnthropicGoogleCloud',
      'google-token',
      () => {
        const { project, platform, tokens, serviceAccount } = google();
        const { workspace } = platform.state;
        return new AnthropicGoogleCloud({
          baseURL: `${platform.url}/v1/projects/${project}/locations/global/workspaces/${workspace}/invoke`,
          bearerTokenProvider: async () => tokens.issue(serviceAccount).token,
          maxRetries: 0,
        });
      },
      () =>
        new AnthropicGoogleCloud({
          baseURL: running.weir.gatewayUrl,
          bearerTokenProvider: async () => running.weir.apiKey,
          maxRetries: 0,
        }),
      () => sentToGoogle(),
    ],
  ] as const;
  for (const [title, model, straight, through, sent] of judges)
    describe(`${title}: the same straight and through Weir`, () => {
      const acts = { ...actsOfMessages(claude), 'a count of tokens': countTokens(claude) };
      const ofModel = { ...actsOfMessages(model), 'a count of tokens': countTokens(model) };
      for (const [name, act] of Object.entries(acts))
        test(name, async () => {
          const [own, other]: readonly CountingClient[] = [straight(), through()];
          assert.ok(own !== undefined && other !== undefined);
          // The first time the prompt may not be in the cache of the vendor.
          await outcomeOf(act, own);
          const expected = await outcomeOf(act, own);
          const asked = sent();
          const got = await outcomeOf(ofModel[name as keyof typeof ofModel], other);
          assert.deepEqual(got, expected);
          const passed = sent();
          if (JSON.stringify(expected).includes('"failed"')) return;
          assert.equal(passed.url?.replace(/\?.*/, ''), asked.url?.replace(/\?.*/, ''));
          for (const header of ['anthropic-version', 'anthropic-beta', 'anthropic-workspace-id'])
            assert.equal(passed.headers[header], asked.headers[header], header);
        });
    });

  test('a token of Google or keys of a role that are refused are replaced within the call', async () => {
    assert.equal((await ask('google-token')).status, 200);
    assert.equal((await ask('aws-role')).status, 200);
    // New credentials are not replaced at once, so that refusals for other reasons cannot flood the server.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    google().tokens.revoke();
    aws().revokeIssued();
    assert.equal((await ask('google-token')).status, 200);
    assert.equal((await ask('aws-role')).status, 200);
  });

  test('refusals say whose business they are, and a client sees no part of a key', async () => {
    const stranger = await ask('aws-stranger');
    assert.equal(stranger.status, 503, stranger.text);
    assert.doesNotMatch(stranger.text, /sk-stranger/);
    for (const [model, status] of [
      ['aws-elsewhere', 400],
      ['google-elsewhere', 404],
    ] as const) {
      const answer = await ask(model);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.json.type, 'error');
    }
    google().platform.state.isDisabled = true;
    const disabled = await ask('google-token');
    google().platform.state.isDisabled = false;
    assert.equal(disabled.json.type, 'error', disabled.text);
    aws().fail({ at: 'status', status: 429, type: 'ThrottlingException' });
    assert.equal((await ask('aws-signed')).status, 429);
  });

  test('the doctor checks both, and says what to do about a wrong workspace and a missing right', async () => {
    const { dataDirectory } = running.weir;
    google().platform.state.withoutRole.add(google().serviceAccount);
    const report = await runDoctor({
      environment: readEnvironment({ WEIR_CONFIG: join(dataDirectory, 'weir.yaml'), WEIR_DATA_DIR: dataDirectory }),
      clock: systemClock,
      signal: new AbortController().signal,
      upstreams: ['aws-signed', 'aws-elsewhere', 'google-token'],
      checks: [],
      model: undefined,
      mayCall: false,
      timeoutMs: 10_000,
      onStep: () => {},
    });
    google().platform.state.withoutRole.clear();
    const toldOf = (name: string): string =>
      JSON.stringify(report.upstreams.find(({ upstream }) => upstream === name)?.findings ?? assert.fail(name));
    assert.match(toldOf('aws-signed'), /it is accepted; \d+ models are listed/);
    assert.match(toldOf('aws-elsewhere'), /workspace wrkspc_elsewhere must be one of the AWS account, and of the region us-east-1/);
    assert.match(toldOf('google-token'), /give it a role of claude\.googleapis\.com in the project acme-models/);
  });
});
