import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';

import { signInByLink } from '../admin/console-client.ts';
import { eventually, post } from '../support/http.ts';
import { type SimulatedProgram, startSimulatedProgram } from '../support/start-simulated-weir.ts';

/** Longer than any wait for the database was, which also gave up when its answer had arrived. */
const pauseMs = 2600;
const pauses = 5;
/** How long the process runs between two pauses. */
const runMs = 150;
/** Requests of a kind that are under way at any time. */
const atOnce = 4;

type Answer = { readonly status: number; readonly text: string };

describe('a process that gets a processor only now and then', { timeout: 180_000 }, () => {
  let simulated: SimulatedProgram;

  before(async () => {
    simulated = await startSimulatedProgram({ weir: { environment: { WEIR_CONSOLE_PORT: '0', WEIR_WATCHDOG_SECONDS: '60' } } });
  });
  after(() => simulated[Symbol.asyncDispose]());

  test('a key, a billing token and a session that are valid are never refused', async (context) => {
    const { weir } = simulated;
    const browser = await signInByLink(weir.consoleUrl, weir.consoleLink);
    const chat = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'hello' }] };
    const nowSeconds = Math.floor(Date.now() / 1000);
    const question = { type: 3, startTime: nowSeconds - 3600, endTime: nowSeconds + 3600 };
    const kinds: Readonly<Record<string, () => Promise<Answer>>> = {
      key: () => post(`${weir.gatewayUrl}/v1/chat/completions`, chat, { authorization: `Bearer ${weir.apiKey}` }),
      token: () => post(`${weir.monitorUrl}/bill/stats`, question, { token: weir.billingToken }),
      session: () => browser.send('GET', '/api/v1/keys'),
    };
    for (const ask of Object.values(kinds)) await eventually(ask, ({ status }) => status === 200);
    let isOver = false;
    const answers: Record<string, Answer[]> = {};
    const clients = Object.entries(kinds).flatMap(([kind, ask]) => {
      const own: Answer[] = (answers[kind] = []);
      return Array.from({ length: atOnce }, async () => {
        while (!isOver) own.push(await ask());
      });
    });
    for (let pause = 0; pause < pauses; pause += 1) {
      await delay(runMs);
      weir.process.kill('SIGSTOP');
      await delay(pauseMs);
      weir.process.kill('SIGCONT');
    }
    isOver = true;
    await Promise.all(clients);
    for (const [kind, own] of Object.entries(answers)) {
      context.diagnostic(`${kind}: ${own.length} requests`);
      const refused = own.filter(({ status }) => status !== 200).map(({ status, text }) => `${status} ${text}`);
      assert.deepEqual(refused, [], kind);
      assert.ok(own.length >= atOnce * 2, `${own.length} requests with the ${kind}`);
    }
  });
});
