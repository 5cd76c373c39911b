import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import type { RunningSimulator } from 'weir-simulator';

import { eventually } from '../support/http.ts';
import { openCall } from '../support/open-call.ts';
import { type SimulatedProgram, startSimulatedProgram, upstreamKey } from '../support/start-simulated-weir.ts';

const workers = 2;
const keyOf = (name: 'vault' | 'file', round: number): string => `sk-${name}-of-round-${round}-0123456789`;

/** Each worker reads secrets for itself, and gets calls of all clients in turn. */
describe('secrets of a gateway with workers', () => {
  let running: SimulatedProgram;
  let simulator: RunningSimulator;
  const directory = mkdtempSync(join(tmpdir(), 'weir-workers-'));
  const file = join(directory, 'key');
  const vault = () => simulator.vault ?? assert.fail();
  const writeSecrets = (round: number): void => {
    vault().write('secret/weir/openai', { key: keyOf('vault', round) });
    writeFileSync(file, keyOf('file', round));
  };

  before(async () => {
    running = await startSimulatedProgram({
      simulator: { apiKeys: [upstreamKey, keyOf('vault', 0), keyOf('file', 0)], vault: true },
      secrets: (started) => {
        simulator = started;
        writeSecrets(0);
        const tokenFile = join(directory, 'pod-token');
        writeFileSync(tokenFile, vault().addPodToken());
        return { refreshSeconds: 1, vault: { address: vault().url, login: { kind: 'kubernetes', role: 'weir', tokenFile } } };
      },
      clouds: ({ addresses }) => ({
        vault: { vendor: 'openai', baseUrl: addresses.openai, apiKey: '${vault:secret/weir/openai#key}' },
        file: { vendor: 'openai', baseUrl: addresses.openai, apiKey: `\${file:${file}}` },
      }),
      models: Object.fromEntries(['vault', 'file'].map((upstream) => [upstream, { targets: [{ upstream, model: 'gpt-4.1-mini' }] }])),
      retries: { attemptsMax: 1, avoidFailing: false, holdOpeningMs: 60_000 },
      weir: { command: 'gateway', commandArguments: ['--workers', String(workers)] },
    });
  });
  after(async () => {
    await running[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  test('are replaced and revoked in the same moment, three times under load: no call fails', async () => {
    let ends = false;
    let done = 0;
    const failed: string[] = [];
    const { gatewayUrl, apiKey } = running.weir;
    // Each call is a connection of its own, which the next worker gets.
    const calls = ['vault', 'file', 'vault', 'file'].map(async (model) => {
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 });
      while (!ends) {
        const { status, text } = await openCall(`${gatewayUrl}/v1/chat/completions`, {
          headers: { authorization: `Bearer ${apiKey}` },
          body,
        }).done;
        done += 1;
        if (status !== 200) failed.push(`${model}: ${status} ${text}`);
      }
    });
    const some = async (): Promise<void> => {
      const before = done;
      await eventually(() => done >= before + 60, Boolean);
    };
    await some();
    for (let round = 1; round <= 3; round += 1) {
      writeSecrets(round);
      simulator.replaceKeys([upstreamKey, keyOf('vault', round), keyOf('file', round)]);
      await some();
    }
    ends = true;
    await Promise.all(calls);
    assert.deepEqual(failed, []);
  });

  test('are read by each worker with a login of its own, and are in no line of the log', () => {
    const logins = vault().state.requests.filter(({ path }) => path === 'auth/kubernetes/login').length;
    assert.ok(logins >= workers, `${logins} logins`);
    for (let round = 0; round <= 3; round += 1)
      for (const name of ['vault', 'file'] as const) assert.ok(!running.weir.output().includes(keyOf(name, round)));
  });
});
