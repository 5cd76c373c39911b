import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { openLedger } from '../support/read-ledger.ts';
import { eventually, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { openCall } from '../support/open-call.ts';
import { type SimulatedProgram, startSimulatedProgram } from '../support/start-simulated-weir.ts';

const effectWithinMs = 20_000;

test('a program that has reported readiness can reload at once', async () => {
  for (const weir of [{}, { command: 'gateway', commandArguments: ['--workers', '1'] }] as const) {
    await using simulated = await startSimulatedProgram({ weir });
    simulated.weir.process.kill('SIGHUP');
    assert.equal(await simulated.weir.stop('SIGTERM'), 0);
  }
});

/** A changed weir.yaml of a running gateway. */
describe('reload', () => {
  let simulated: SimulatedProgram;
  let path: string;
  let good: Record<string, any>;
  before(async () => {
    simulated = await startSimulatedProgram({ weir: { environment: { WEIR_LOG_LEVEL: 'info' } } });
    path = join(simulated.weir.dataDirectory, 'weir.yaml');
    good = JSON.parse(readFileSync(path, 'utf8'));
  });
  after(() => simulated[Symbol.asyncDispose]());

  const chat = chatInterfaces.find(({ dialect }) => dialect === 'openai-chat');
  assert.ok(chat);
  const ask = (model: string) =>
    post(`${simulated.weir.gatewayUrl}${chat.path(model)}`, chat.body(model, 'Hello'), {
      authorization: `Bearer ${simulated.weir.apiKey}`,
    });
  const becomes = (model: string, status: number) =>
    eventually(
      async () => (await ask(model)).status,
      (seen) => seen === status,
      effectWithinMs,
    );
  /** Replaces it atomically: a half-written file could be read and reported as invalid. */
  const replaceFile = (text: string): void => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  };
  const alias = (name: string, more: object = {}) => ({
    ...good,
    models: { [name]: { targets: [{ upstream: 'openai', model: 'gpt-4.1' }], ...more } },
  });

  test('a new alias works within seconds, also in the list', async () => {
    assert.equal((await ask('fast-one')).status, 404);
    writeFileSync(path, JSON.stringify(alias('fast-one')));
    await becomes('fast-one', 200);
  });

  test('a file that is replaced by renaming, as editors and mounted configurations do, is noticed', async () => {
    replaceFile(JSON.stringify(alias('fast-two')));
    await becomes('fast-two', 200);
    await becomes('fast-one', 404);
    replaceFile(JSON.stringify(alias('fast-three')));
    await becomes('fast-three', 200);
  });

  test('an invalid file changes nothing and is reported once with position and reason', async () => {
    const before = simulated.weir.output().length;
    replaceFile(JSON.stringify(good, undefined, 2).replace('"upstreams"', '"upstraems"'));
    await eventually(
      () => simulated.weir.output().slice(before),
      (output) => /weir\.yaml:2:\d+ .*upstraems/.test(output),
      effectWithinMs,
    );
    assert.match(simulated.weir.output().slice(before), /configuration reload failed/);
    assert.equal((await ask('fast-three')).status, 200);
    await new Promise((resolve) => setTimeout(resolve, 2200));
    assert.equal(
      simulated.weir
        .output()
        .slice(before)
        .match(/configuration reload failed/g)?.length,
      1,
      'reported once',
    );
    replaceFile('not: [yaml');
    await eventually(
      () =>
        simulated.weir
          .output()
          .slice(before)
          .match(/configuration reload failed/g)?.length,
      (times) => times === 2,
      effectWithinMs,
    );
    assert.equal((await ask('fast-three')).status, 200);
    replaceFile(JSON.stringify(alias('fast-four')));
    await becomes('fast-four', 200);
  });

  test('a running call keeps the prices and the route of its admission', async () => {
    replaceFile(JSON.stringify(alias('pinned', { price: { input: '1', output: '2' } })));
    await becomes('pinned', 200);
    const call = openCall(`${simulated.weir.gatewayUrl}${chat.path('pinned', true)}`, {
      headers: {
        authorization: `Bearer ${simulated.weir.apiKey}`,
        'x-simulator-output-tokens': '600',
        'x-simulator-pace': 'tokensPerSecond=200',
      },
      body: JSON.stringify(chat.body('pinned', 'Hello', true)),
    });
    await call.until((text) => text.includes('"content"'));
    replaceFile(JSON.stringify({ ...alias('pinned', { price: { input: '1000', output: '2000' } }) }));
    const ledger = await openLedger(simulated.weir.dataDirectory);
    await eventually(
      async () =>
        (await ledger.row(String((await ask('pinned')).headers['x-weir-request-id']))).charge.lines.find(({ meter }) => meter === 'output')
          ?.unitPrice,
      (price) => price === '2000',
      effectWithinMs,
    );
    const reply = await call.done;
    assert.match(reply.text, chat.terminal);
    const row = await ledger.row(String(reply.headers['x-weir-request-id']));
    await ledger.close();
    assert.equal(row.charge.lines.find(({ meter }) => meter === 'output')?.unitPrice, '2');
    assert.equal(row.charge.amountNanoUsd, BigInt(row.usage.inputTokens ?? 0) * 1000n + 600n * 2000n);
  });

  test('a stream continues while its upstream is removed from the file', async () => {
    replaceFile(JSON.stringify(alias('leaving')));
    await becomes('leaving', 200);
    const call = openCall(`${simulated.weir.gatewayUrl}${chat.path('leaving', true)}`, {
      headers: {
        authorization: `Bearer ${simulated.weir.apiKey}`,
        'x-simulator-output-tokens': '600',
        'x-simulator-pace': 'tokensPerSecond=200',
      },
      body: JSON.stringify(chat.body('leaving', 'Hello', true)),
    });
    await call.until((text) => text.includes('"content"'));
    const { openai: _, ...others } = good['upstreams'] as Record<string, object>;
    replaceFile(JSON.stringify({ ...good, upstreams: others, models: {} }));
    await becomes('leaving', 404);
    const reply = await call.done;
    assert.equal(reply.end, 'complete');
    assert.match(reply.text, chat.terminal);
    replaceFile(JSON.stringify(good));
    await becomes('gpt-4.1', 200);
  });
});
