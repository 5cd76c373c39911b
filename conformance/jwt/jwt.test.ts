import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';

import { runCommand } from '../programs/run-command.ts';
import { type Answer, call, eventually, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { openLedger } from '../support/read-ledger.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';
import { type ServedIssuer, serveIssuer } from './serve-issuer.ts';

/** Tokens of two issuers on the loopback, by official SDKs and plain requests, as docs/guide/jwt.md has one. */
describe('signed tokens are credentials', () => {
  let running: SimulatedWeir;
  let ci: ServedIssuer;
  let cluster: ServedIssuer;
  before(async () => {
    [ci, cluster] = await Promise.all([serveIssuer(), serveIssuer('ES256')]);
    const issuers = [
      {
        name: 'ci',
        issuer: ci.url,
        audience: 'weir',
        user: 'ci-{repository_owner}',
        key: '{repository}',
        claims: { repository_owner: ['acme', 'limited'] },
        models: ['claude-*', 'gpt-*', 'gemini-*'],
      },
      {
        name: 'cluster',
        issuer: cluster.url,
        jwksUrl: `${cluster.url}/keys`,
        audience: ['weir', 'https://weir.example'],
        algorithms: ['ES256'],
        user: '{kubernetes.io/namespace}',
        key: '{kubernetes.io/serviceaccount/name}',
        limits: { requestsPerMinute: 2 },
      },
    ];
    running = await startSimulatedGateway({ config: { callers: { issuers } } });
  });
  after(async () => {
    await running[Symbol.asyncDispose]();
    await Promise.all([ci.close(), cluster.close()]);
  });

  const acme = { repository_owner: 'acme', repository: 'app' };
  const ask = (dialect: string, headers: Readonly<Record<string, string>>): Promise<Answer> => {
    const chat = chatInterfaces.find((one) => one.dialect === dialect) ?? assert.fail(dialect);
    return post(`${running.weir.gatewayUrl}${chat.path(chat.model)}`, chat.body(chat.model, 'Hello'), { ...chat.headers, ...headers });
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const rowOf = async (requestId: string) => {
    const ledger = await openLedger(running.weir.dataDirectory);
    try {
      return await ledger.row(requestId);
    } finally {
      await ledger.close();
    }
  };

  test('the official SDKs of three vendors send a token as their key', async () => {
    const { gatewayUrl } = running.weir;
    const token = await ci.sign(acme);
    const anthropic = new Anthropic({ baseURL: gatewayUrl, apiKey: null, authToken: token, maxRetries: 0 });
    const openai = new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey: token, maxRetries: 0 });
    const genai = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: gatewayUrl } });
    const message = await anthropic.messages.create({
      model: 'claude-sonnet-4-5',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    assert.equal(message.role, 'assistant');
    const answer = await openai.responses.create({ model: 'gpt-5-mini', input: 'Hello' });
    assert.equal(answer.status, 'completed');
    const stream = await openai.chat.completions.create({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello' }], stream: true });
    const pieces = await Array.fromAsync(stream);
    assert.equal(pieces.at(-1)?.choices[0]?.finish_reason ?? pieces.at(-2)?.choices[0]?.finish_reason, 'stop');
    const generated = await genai.models.generateContent({ model: 'gemini-2.5-flash', contents: 'Hello' });
    assert.notEqual(generated.text, '');
  });

  test('calls of a subject are booked under one user and key, whatever token they carry', async () => {
    const answers = [
      await ask('openai-chat', bearer(await ci.sign(acme))),
      await ask('openai-responses', bearer(await ci.sign({ ...acme, jti: '2' }))),
    ];
    const rows = await Promise.all(answers.map(({ headers }) => rowOf(String(headers['x-weir-request-id']))));
    assert.deepEqual(
      rows.map(({ userName, keyName }) => `${userName}/${keyName}`),
      ['ci-acme/app', 'ci-acme/app'],
    );
    assert.equal(new Set(rows.map(({ keyId }) => keyId)).size, 1);
    const listed = await runCommand(['keys', 'list', '--user', 'ci-acme', '--json'], { WEIR_DATA_DIR: running.weir.dataDirectory });
    const [key] = JSON.parse(listed.stdout) as { readonly name: string; readonly issuer: string; readonly ends_in: string }[];
    assert.deepEqual([key?.name, key?.issuer, key?.ends_in], ['app', 'ci', 'jwt']);
    const audit = await runCommand(['audit', 'list', '--actor', 'issuer:ci', '--json'], { WEIR_DATA_DIR: running.weir.dataDirectory });
    const actions = (JSON.parse(audit.stdout) as { readonly action: string }[]).map(({ action }) => action);
    assert.deepEqual(actions.toSorted(), ['keys.create', 'users.create']);
  });

  test('every carrier takes a token, and two different credentials are refused', async () => {
    const token = await ci.sign(acme);
    for (const headers of [{ 'x-api-key': token }, { 'x-goog-api-key': token }, bearer(token)])
      assert.equal((await call(`${running.weir.gatewayUrl}/v1/models`, { headers })).status, 200);
    const both = await call(`${running.weir.gatewayUrl}/v1/models`, { headers: { ...bearer(token), 'x-api-key': running.weir.apiKey } });
    assert.equal(both.status, 401);
  });

  test('a wrong token gets 401 with what is wrong about it, in each dialect and in the log of refusals', async () => {
    const stranger = await serveIssuer();
    const payload = (await ci.sign(acme)).split('.')[1] ?? '';
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    const tokens: Readonly<Record<string, readonly [string, string]>> = {
      'an unknown issuer': [await stranger.sign(acme), 'its issuer (iss) is not configured here'],
      'a signature of another key': [await stranger.sign({ ...acme, iss: ci.url }), 'no public key of its issuer fits its signature'],
      'no signature': [none, 'its algorithm (alg) must be RS256 or ES256'],
      'another audience': [await ci.sign({ ...acme, aud: 'other' }), 'its audience (aud) must be weir'],
      'a claim that is not allowed': [
        await ci.sign({ repository_owner: 'evil', repository: 'app' }),
        'its claim repository_owner is missing, or has a value that is not accepted',
      ],
      'a key of the other issuer': [await cluster.sign({ ...acme, iss: ci.url }), 'no public key of its issuer fits its signature'],
      garbage: [`eyJ${'x'.repeat(5000)}`, 'it cannot be read'],
    };
    await stranger.close();
    for (const { dialect } of chatInterfaces) {
      const unknown = await ask(dialect, bearer('sk-unknown'));
      assert.match(String(unknown.status), /^40[01]$/);
      for (const [what, [token, reason]] of Object.entries(tokens)) {
        const { status, text } = await ask(dialect, bearer(token));
        assert.equal(status, unknown.status, `${dialect}: ${what}`);
        assert.ok(text.includes(`this signed token is not accepted: ${reason}`), `${dialect}: ${what}: ${text}`);
        assert.ok(!text.includes('evil') && !text.includes(stranger.url), 'no value of the token is repeated');
      }
    }
    const { items } = await eventually(
      async () => {
        const listed = await runCommand(['refusals', '--limit', '100', '--json'], { WEIR_DATA_DIR: running.weir.dataDirectory });
        return { items: JSON.parse(listed.stdout) as readonly { readonly message: string }[] };
      },
      ({ items: rows }) => Object.values(tokens).every(([, reason]) => rows.some(({ message }) => message.includes(reason))),
      20_000,
    );
    assert.ok(items.length > 0);
  });

  test('an expired token of a known key says when it expired', async () => {
    await ask('openai-chat', bearer(await ci.sign(acme)));
    const answer = await ask('openai-chat', bearer(await ci.sign({ ...acme, exp: Math.floor(Date.now() / 1000) - 120 })));
    assert.equal(answer.status, 401);
    assert.match(answer.text, /expired at 20\d\d-/);
  });

  test('the models and limits of the issuer hold, per key', async () => {
    const refused = await post(
      `${running.weir.gatewayUrl}/v1/chat/completions`,
      { model: 'grok-4', messages: [{ role: 'user', content: 'Hello' }] },
      bearer(await ci.sign(acme)),
    );
    assert.ok(refused.status === 403 || refused.status === 404, refused.text);
    const pod = (name: string) => cluster.sign({ sub: name, 'kubernetes.io': { namespace: 'team-a', serviceaccount: { name } } });
    const statuses = [];
    for (const name of ['builder', 'builder', 'builder', 'tester'])
      statuses.push((await ask('openai-chat', bearer(await pod(name)))).status);
    assert.deepEqual(statuses, [200, 200, 429, 200]);
  });

  test('tokens of known and of new subjects are served while the issuer is away', async () => {
    const old = await cluster.sign({ 'kubernetes.io': { namespace: 'away', serviceaccount: { name: 'one' } } });
    assert.equal((await call(`${running.weir.gatewayUrl}/v1/models`, { headers: bearer(old) })).status, 200);
    cluster.setAway(true);
    try {
      const fresh = await cluster.sign({ 'kubernetes.io': { namespace: 'away', serviceaccount: { name: 'two' } } });
      assert.equal((await call(`${running.weir.gatewayUrl}/v1/models`, { headers: bearer(fresh) })).status, 200);
    } finally {
      cluster.setAway(false);
    }
    assert.ok(
      cluster.requests.every((path) => path === '/keys'),
      'a configured address needs no discovery',
    );
  });
});

test('an issuer that was never reached is 503 and not 401, and keys of Weir work beside it', async (context) => {
  const issuer = await serveIssuer();
  context.after(() => issuer.close());
  issuer.setAway(true);
  await using running = await startSimulatedGateway({
    config: { callers: { issuers: [{ name: 'ci', issuer: issuer.url, audience: 'weir' }] } },
  });
  const status = async (secret: string) =>
    (await call(`${running.weir.gatewayUrl}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })).status;
  assert.equal(await status(await issuer.sign()), 503);
  assert.equal(await status(running.weir.apiKey), 200);
  issuer.setAway(false);
});
