import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startSimulator, type RunningSimulator } from 'weir-simulator';

import { runCommand } from '../programs/run-command.ts';
import { type ChaosProxy, startChaosProxy, type Trouble } from '../support/chaos-proxy.ts';
import { type Answer, post } from '../support/http.ts';
import { neverOverloaded, upstreamKey } from '../support/start-simulated-weir.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

/** The number of simultaneous calls with which an agent program counts its context. */
const burst = 26;

/** A model with one target, with the default retries and health. */
describe('the only target of a model', () => {
  let simulator: RunningSimulator;
  let proxy: ChaosProxy;
  let weir: ServedWeir;
  const keys = new Map<string, string>();
  before(async () => {
    simulator = await startSimulator();
    const address = new URL(simulator.addresses.anthropic);
    proxy = await startChaosProxy(Number(address.port));
    address.port = String(proxy.port);
    const alone = {
      vendor: 'anthropic',
      baseUrl: address.href.replace(/\/$/, ''),
      apiKey: upstreamKey,
      forwardHeaders: ['x-simulator-*'],
    };
    const models = { alone: { targets: [{ upstream: 'alone', model: 'claude-sonnet-4-5' }] } };
    weir = await serveWeir({ command: 'gateway', config: JSON.stringify({ upstreams: { alone }, models, overload: neverOverloaded }) });
    for (const user of ['one', 'other']) {
      const created = await runCommand(['keys', 'create', '--user', user, '--name', user], { WEIR_DATA_DIR: weir.dataDirectory });
      keys.set(user, created.stdout.trim());
    }
  });
  after(async () => {
    await weir[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await simulator.close();
  });

  const ask = (user: string, path: string, text: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    post(
      `${weir.gatewayUrl}/v1/messages${path}`,
      { model: 'alone', ...(path === '' ? { max_tokens: 50 } : {}), messages: [{ role: 'user', content: text }] },
      { 'x-api-key': keys.get(user) ?? '', 'anthropic-version': '2023-06-01', ...headers },
    );
  const burstOf = async (user: string, path: string): Promise<readonly number[]> => {
    const answers = await Promise.all(Array.from({ length: burst }, (_, number) => ask(user, path, `call ${number}`)));
    return [...new Set(answers.map(({ status }) => status))];
  };

  test('prompts of one caller that cause status 500 do not affect others, and the same caller is served too', async () => {
    for (let number = 0; number < 12; number += 1) {
      const poisoned = await ask('one', '', `poison ${number}`, { 'x-simulator-fault': 'status;status=500' });
      assert.equal(poisoned.status, 500, poisoned.text);
    }
    for (const user of ['other', 'one']) {
      assert.deepEqual(await burstOf(user, '/count_tokens'), [200]);
      assert.deepEqual(await burstOf(user, ''), [200]);
    }
  });

  for (const [name, trouble] of [
    ['refuses connections', { type: 'refuse' }],
    ['resets them', { type: 'reset', afterBytes: 0 }],
    ['answers 503', { type: 'status', status: 503 }],
    ['refuses the credential', { type: 'status', status: 401 }],
    ['limits the rate', { type: 'status', status: 429, headers: { 'retry-after': '30' } }],
  ] as const satisfies readonly (readonly [string, Trouble])[]) {
    test(`a burst right after it ${name} no more is all served`, async () => {
      await proxy.set(trouble, 'reset');
      for (let number = 0; number < 12; number += 1) {
        const { status } = await ask(number % 2 === 0 ? 'one' : 'other', '', `${name} ${number}`);
        assert.ok([429, 503].includes(status), String(status));
      }
      await proxy.set({ type: 'none' }, 'reset');
      assert.deepEqual(await burstOf('one', '/count_tokens'), [200]);
      assert.deepEqual(await burstOf('other', ''), [200]);
    });
  }
});
