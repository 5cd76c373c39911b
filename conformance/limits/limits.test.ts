import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { allModes, wholeModes, type Mode } from '../faults/fault-bench.ts';
import { call, eventually, post } from '../support/http.ts';
import { by, type LimitsBench, nameOf, standingHeaders, startLimitsBench } from './limits-bench.ts';

const effectWithinMs = 20_000;

/** The effects of limits on calls, on every interface of a running gateway. */
describe('limits', { concurrency: 4 }, () => {
  let bench: LimitsBench;
  before(async () => {
    bench = await startLimitsBench({
      models: {
        scarce: { targets: [{ upstream: 'openai', model: 'gpt-4.1' }], limits: { requestsPerMinute: 2 } },
        'claude-*': { targets: [{ upstream: 'anthropic' }] },
      },
    });
  });
  after(() => bench[Symbol.asyncDispose]());

  const chat = wholeModes.find(({ api }) => api.dialect === 'openai-chat');
  assert.ok(chat);
  const chatMode: Mode = chat;

  for (const mode of wholeModes) {
    test(`${mode.title}: users of a team share its limits, and the refusal names the team and what of the limit is used`, async () => {
      const team = `team ${nameOf(mode)}`;
      await bench.accounts.createTeam({ name: team, limits: { requestsPerMinute: 2 } });
      const keys = [];
      for (const user of ['one', 'two', 'three']) {
        const userName = `${user} of ${nameOf(mode)}`;
        keys.push(await bench.createKey(userName, { rpm: '50' }));
        await bench.accounts.setUserTeam(userName, team);
      }
      const [one = '', two = '', three = ''] = keys;
      // The gateway knows the change within a second: until then the three keys have only their own limits.
      const refused = await eventually(
        async () => {
          for (const key of [one, two]) await bench.send(mode, by(key));
          return await bench.send(mode, by(three));
        },
        ({ status }) => status === 429,
      );
      assert.match(
        refused.text,
        new RegExp(`Rate limit reached for this team \\(${team}\\): 2 requests per minute, used 2, requested 1\\.`),
      );
      const seconds = Number(refused.headers['retry-after']);
      assert.ok(seconds > 0 && seconds <= 60, `retry-after: ${seconds}`);
      assert.ok(bench.simulator.records().every(({ tag }) => tag !== refused.tag));
    });
  }

  for (const mode of allModes) {
    const { dialect } = mode.api;
    test(`${mode.title}: the reply has its caller's remaining limits, and one call too many is a 429 that reaches no upstream and no books`, async () => {
      const key = await bench.createKey(`rpm ${nameOf(mode)}`, { rpm: '1', tpm: '100000' });
      const first = await bench.send(mode, by(key));
      assert.equal(first.status, 200, first.text);
      const shown = standingHeaders(first);
      if (dialect === 'anthropic-messages') {
        assert.deepEqual(Object.keys(shown).toSorted(), [
          ...['requests-limit', 'requests-remaining', 'requests-reset'].map((name) => `anthropic-ratelimit-${name}`),
          ...['tokens-limit', 'tokens-remaining', 'tokens-reset'].map((name) => `anthropic-ratelimit-${name}`),
        ]);
        assert.equal(shown['anthropic-ratelimit-requests-limit'], '1');
        assert.equal(shown['anthropic-ratelimit-requests-remaining'], '0');
        const inMs = Date.parse(shown['anthropic-ratelimit-requests-reset'] ?? '') - Date.now();
        assert.ok(inMs > 50_000 && inMs <= 61_000, `resets in ${inMs} ms`);
      } else if (dialect === 'gemini-generate-content') assert.deepEqual(shown, {});
      else {
        const { 'x-ratelimit-remaining-tokens': remaining, ...others } = shown;
        assert.ok(Number(remaining) > 90_000 && Number(remaining) < 100_000, `${remaining} left`);
        assert.deepEqual(others, {
          'x-ratelimit-limit-requests': '1',
          'x-ratelimit-limit-tokens': '100000',
          'x-ratelimit-remaining-requests': '0',
          'x-ratelimit-reset-requests': '1m0s',
          'x-ratelimit-reset-tokens': '1m0s',
        });
      }
      const second = await bench.send(mode, by(key));
      assert.equal(second.status, 429, second.text);
      assert.match(
        second.text,
        /Rate limit reached for this API key: 1 requests per minute, used 1, requested 1\. Please try again in \d+s\./,
      );
      const seconds = Number(second.headers['retry-after']);
      assert.ok(seconds > 40 && seconds <= 60, `retry-after: ${seconds}`);
      assert.ok(bench.simulator.records().every(({ tag }) => tag !== second.tag));
      const rows = await bench.ledger.all();
      assert.ok(rows.every(({ callId }) => callId !== second.headers['x-weir-request-id']));
    });
  }

  test("the operator's limits at the upstream are never shown, with or without limits here, also on errors", async () => {
    assert.deepEqual(standingHeaders(await bench.send(chatMode)), {});
    const key = await bench.createKey('only concurrency', { concurrency: '3' });
    assert.deepEqual(standingHeaders(await bench.send(chatMode, by(key))), {});
    const limited = await bench.createKey('with requests', { rpm: '9' });
    const failed = await bench.send(chatMode, { ...by(limited), steer: { fault: 'status;status=429' } });
    assert.equal(failed.status, 429);
    assert.deepEqual(Object.entries(standingHeaders(failed)).slice(0, 2), [
      ['x-ratelimit-limit-requests', '9'],
      ['x-ratelimit-remaining-requests', '8'],
    ]);
    const away = await bench.send(chatMode, { ...by(limited), steer: { fault: 'refuse' } });
    assert.equal(away.status, 503);
    assert.equal(standingHeaders(away)['x-ratelimit-remaining-requests'], '7');
  });

  test('of a burst of forty calls exactly as many as the limit are served', async () => {
    const key = await bench.createKey('burst', { rpm: '10' });
    const replies = await Promise.all(Array.from({ length: 40 }, () => bench.send(chatMode, by(key))));
    const count = (status: number): number => replies.filter((reply) => reply.status === status).length;
    assert.deepEqual([count(200), count(429)], [10, 30]);
  });

  test('all keys of a user share its limits, and a refusal by one limit uses nothing of another', async () => {
    const rpm = 5000;
    const first = await bench.createKey('shared', { rpm: String(rpm) });
    const second = await bench.command('keys', 'create', '--user', 'shared', '--name', 'second');
    await bench.command('users', 'limit', 'shared', '--rpm', '2');
    // The older key must show the change: a key that is new to the gateway is looked up, and loads the change at once.
    let served = 0;
    await eventually(
      async () => {
        const reply = await bench.send(chatMode, by(first));
        if (reply.status === 200) served += 1;
        return standingHeaders(reply)['x-ratelimit-limit-requests'];
      },
      (limit) => limit === '2',
      effectWithinMs,
    );
    assert.equal((await bench.send(chatMode, by(second))).status, 200);
    for (let tries = 0; tries < 8; tries += 1) {
      const refused = await bench.send(chatMode, by(first));
      assert.equal(refused.status, 429);
      assert.match(refused.text, /this user/);
    }
    await bench.command('users', 'limit', 'shared', '--rpm', 'none');
    const remaining = await eventually(
      async () => standingHeaders(await bench.send(chatMode, by(first)))['x-ratelimit-remaining-requests'],
      (left) => left !== '0' && left !== undefined,
      effectWithinMs,
    );
    assert.equal(remaining, String(rpm - served - 1), 'only served calls count for the key');
  });

  test('tokens: the estimate is corrected by the real usage', async () => {
    const key = await bench.createKey('tokens', { tpm: '5000' });
    const first = await bench.send(chatMode, { ...by(key), body: { max_tokens: 1000 }, steer: { 'output-tokens': '50' } });
    assert.equal(first.status, 200, first.text);
    const reserved = 5000 - Number(standingHeaders(first)['x-ratelimit-remaining-tokens']);
    assert.ok(reserved >= 1000 && reserved < 1100, `reserved ${reserved}`);
    const { usage } = await bench.rowOf(first);
    const used = (usage.inputTokens ?? 0) + (usage.cacheReadTokens ?? 0) + (usage.outputTokens ?? 0);
    const second = await bench.send(chatMode, { ...by(key), body: { max_tokens: 1000 } });
    assert.equal(Number(standingHeaders(second)['x-ratelimit-remaining-tokens']), 5000 - used - reserved);
    const large = await bench.send(chatMode, { ...by(key), body: { max_tokens: 6000 } });
    assert.equal(large.status, 429);
    assert.deepEqual([large.headers['retry-after'], large.headers['x-should-retry']], [undefined, 'false']);
    assert.deepEqual([JSON.parse(large.text).error.type, JSON.parse(large.text).error.code], ['tokens', 'rate_limit_exceeded']);
  });

  test('a call that is refused after its limits were reserved releases them', async () => {
    const key = await bench.createKey('given back', { rpm: '1', concurrency: '1', strict: true });
    const foreign = { model: 'claude-sonnet-4-5', ...by(key) };
    for (let tries = 0; tries < 3; tries += 1) {
      const refused = await bench.send(chatMode, { ...foreign, body: { logprobs: true } });
      assert.equal(refused.status, 400, refused.text);
    }
    assert.equal((await bench.send(chatMode, foreign)).status, 200);
    assert.equal((await bench.send(chatMode, foreign)).status, 429);
  });

  test('counting tokens is not limited', async () => {
    const key = await bench.createKey('counting', { rpm: '1' });
    const body = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'Hello' }] };
    for (let calls = 0; calls < 5; calls += 1) {
      const url = `${bench.weir.gatewayUrl}/v1/messages/count_tokens`;
      const answer = await post(url, body, { 'x-api-key': key, 'anthropic-version': '2023-06-01' });
      assert.equal(answer.status, 200, answer.text);
    }
    assert.equal((await bench.send(chatMode, by(key))).status, 200);
  });

  for (const mode of wholeModes) {
    test(`${mode.title}: a model that the key may not call is as unknown as one that does not exist, and is not listed`, async () => {
      const key = await bench.createKey(`models ${nameOf(mode)}`, { models: `${mode.api.model},sca*` });
      assert.equal((await bench.send(mode, by(key))).status, 200);
      const forbidden = await bench.send(mode, { ...by(key), model: 'claude-haiku-4-5' });
      const unknown = await bench.send(mode, { ...by(key), model: 'claud-haiku-4-5' });
      assert.equal(forbidden.status, mode.api.unknownModelStatus);
      assert.equal(forbidden.status, unknown.status);
      const comparable = (text: string): string => text.replaceAll(/claude?-haiku|req_\w+/g, 'x');
      assert.equal(comparable(forbidden.text), comparable(unknown.text));
      const listed = await call(`${bench.weir.gatewayUrl}/v1/models`, by(key));
      assert.deepEqual(listed.json.data.map(({ id }: { id: string }) => id).toSorted(), [mode.api.model, 'scarce'].toSorted());
    });
  }

  test('an address that is not allowed is a 403, and a change takes effect within seconds', async () => {
    const key = await bench.createKey('elsewhere', { addresses: '192.0.2.0/24' });
    for (const mode of wholeModes) {
      const refused = await bench.send(mode, by(key));
      assert.equal(refused.status, 403, refused.text);
      assert.match(refused.text, /permission|PERMISSION_DENIED|address_not_allowed/);
    }
    assert.equal((await call(`${bench.weir.gatewayUrl}/v1/models`, by(key))).status, 403);
    await bench.command('keys', 'update', 'elsewhere/key', '--addresses', '127.0.0.0/8,::1');
    const status = async (): Promise<number> => (await bench.send(chatMode, by(key))).status;
    await eventually(status, (seen) => seen === 200, effectWithinMs);
  });

  test('an expired key is a 401', async () => {
    // The key must be used once before, also if the machine stalls for seconds.
    const key = await bench.createKey('brief', { expires: new Date(Date.now() + 15_000).toISOString() });
    assert.equal((await bench.send(chatMode, by(key))).status, 200);
    const send = () => bench.send(chatMode, by(key));
    const refused = await eventually(send, ({ status }) => status !== 200);
    assert.equal(refused.status, 401);
    assert.match(refused.text, /expired at 20/);
    assert.match(await bench.command('keys', 'list', '--user', 'brief'), /expired/);
  });

  test('limits of a model and defaults for keys come from the file, and a reload changes them', async () => {
    const key = await bench.createKey('file');
    const scarce = () => bench.send(chatMode, { ...by(key), model: 'scarce' });
    const left = standingHeaders(await scarce());
    assert.deepEqual([left['x-ratelimit-limit-requests'], left['x-ratelimit-remaining-requests']], ['2', '1']);
    assert.equal((await scarce()).status, 200);
    const refused = await scarce();
    assert.equal(refused.status, 429);
    assert.match(refused.text, /this model/);
    const path = join(bench.weir.dataDirectory, 'weir.yaml');
    const config = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(
      path,
      JSON.stringify({ ...config, models: { ...config.models, scarce: { ...config.models.scarce, limits: { requestsPerMinute: 50 } } } }),
    );
    await eventually(
      async () => (await scarce()).status,
      (status) => status === 200,
      effectWithinMs,
    );
  });
});

describe('defaults for keys', () => {
  test('default limits apply to every key without a limit of its own', async () => {
    await using bench = await startLimitsBench({
      config: { limits: { perKey: { requestsPerMinute: 3 } }, trustedProxies: ['127.0.0.0/8', '::1'] },
    });
    const [mode] = wholeModes;
    assert.ok(mode);
    const own = await bench.createKey('own', { rpm: '7', addresses: '192.0.2.0/24' });
    const limit = async (headers: Record<string, string>) =>
      standingHeaders(await bench.send(mode, { headers }))['anthropic-ratelimit-requests-limit'];
    assert.equal(await limit({ authorization: `Bearer ${bench.weir.apiKey}` }), '3');
    const forwarded = { 'x-forwarded-for': '10.1.1.1, 192.0.2.7' };
    assert.equal(await limit({ ...by(own).headers, ...forwarded }), '7');
    const { status } = await bench.send(mode, { headers: { ...by(own).headers, 'x-forwarded-for': '192.0.2.7, 10.1.1.1' } });
    assert.equal(status, 403);
  });
});
