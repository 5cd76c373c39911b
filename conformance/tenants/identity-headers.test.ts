import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { runCommand } from '../programs/run-command.ts';
import { type Answer, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { neverOverloaded, type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

/** A gateway whose upstream is another gateway, which answers a repeated `Idempotency-Key` with the first reply. */
describe('a gateway behind a gateway', () => {
  let behind: SimulatedWeir;
  let front: ServedWeir;
  const keys = new Map<string, string>();
  before(async () => {
    behind = await startSimulatedGateway();
    const upstream = {
      vendor: 'openai-compatible',
      baseUrl: `${behind.weir.gatewayUrl}/v1`,
      apiKey: behind.weir.apiKey,
      quirks: { idempotencyKeys: true },
    };
    const models = { m: { targets: [{ upstream: 'behind', model: 'gpt-5-mini' }], price: { input: '1', output: '1' } } };
    front = await serveWeir({
      command: 'gateway',
      config: JSON.stringify({ upstreams: { behind: upstream }, models, overload: neverOverloaded }),
    });
    for (const user of ['one', 'other']) {
      const created = await runCommand(['keys', 'create', '--user', user, '--name', user], { WEIR_DATA_DIR: front.dataDirectory });
      keys.set(user, created.stdout.trim());
    }
  });
  after(async () => {
    await front[Symbol.asyncDispose]();
    await behind[Symbol.asyncDispose]();
  });

  const ask = (user: string, text: string): Promise<Answer> =>
    post(
      `${front.gatewayUrl}/v1/chat/completions`,
      { model: 'm', messages: [{ role: 'user', content: text }] },
      { authorization: `Bearer ${keys.get(user) ?? ''}`, 'idempotency-key': 'order-1' },
    );

  test('two users with the same Idempotency-Key get their own answers, and each gets its own again', async () => {
    const one = await ask('one', 'Hello');
    const other = await ask('other', 'Hello');
    const different = await ask('other', 'Something else');
    assert.deepEqual([one.status, other.status], [200, 200], `${one.text}\n${other.text}`);
    assert.notEqual(one.json.id, other.json.id, 'identical texts are two calls');
    assert.equal(different.status, 409, 'a key stays one request within a user');
    assert.equal((await ask('one', 'Hello')).json.id, one.json.id);
  });

  test("vendors get a key that is derived from the id of the call if their clients send one, and never the client's own", async () => {
    for (const api of chatInterfaces) {
      const tag = `identity ${api.dialect}`;
      const answer = await post(`${behind.weir.gatewayUrl}${api.path(api.model)}`, api.body(api.model, 'Hello'), {
        ...api.headers,
        authorization: `Bearer ${behind.weir.apiKey}`,
        'idempotency-key': `client's own ${api.dialect}`,
        'x-server-timeout': '1',
        'x-simulator-tag': tag,
      });
      assert.equal(answer.status, 200, answer.text);
      const sent = behind.simulator.records().find((record) => record.tag === tag)?.requestHeaders;
      const expected = api.dialect === 'gemini-generate-content' ? undefined : `${String(answer.headers['x-weir-request-id'])}-1`;
      assert.equal(sent?.['idempotency-key'], expected, api.dialect);
      assert.equal(sent?.['x-server-timeout'], undefined);
    }
  });
});
