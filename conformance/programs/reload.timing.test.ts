import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { eventually, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { measureBest } from '../support/measure-best.ts';
import { startSimulatedProgram } from '../support/start-simulated-weir.ts';

test('SIGHUP makes the process read a changed weir.yaml at once, before the next periodic check', async () => {
  await using simulated = await startSimulatedProgram();
  const { weir } = simulated;
  const chat = chatInterfaces.find(({ dialect }) => dialect === 'openai-chat');
  assert.ok(chat);
  const path = join(weir.dataDirectory, 'weir.yaml');
  const good = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const ask = (model: string) =>
    post(`${weir.gatewayUrl}${chat.path(model)}`, chat.body(model, 'Hello'), { authorization: `Bearer ${weir.apiKey}` });
  let times = 0;
  const measure = async (): Promise<number> => {
    const model = `at-once-${(times += 1)}`;
    writeFileSync(`${path}.new`, JSON.stringify({ ...good, models: { [model]: { targets: [{ upstream: 'openai', model: 'gpt-4.1' }] } } }));
    renameSync(`${path}.new`, path);
    const startedMs = performance.now();
    weir.process.kill('SIGHUP');
    await eventually(
      async () => (await ask(model)).status,
      (status) => status === 200,
    );
    return performance.now() - startedMs;
  };
  const ms = await measureBest(measure, (taken) => taken < 900);
  assert.ok(ms < 900, `${ms} ms`);
});
