import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { makeCall, modeOf } from '../books/load.ts';
import { call, eventually, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { openCall } from '../support/open-call.ts';
import { type SimulatedProgram, startSimulatedProgram } from '../support/start-simulated-weir.ts';
import { startWeir } from '../support/start-weir.ts';
import { workerPids } from '../support/worker-pids.ts';
import { runCommand } from './run-command.ts';
import { runWeir } from './run-weir.ts';

const soonMs = 60_000;
const chat = chatInterfaces.find(({ dialect }) => dialect === 'openai-chat');
assert.ok(chat);
const perMinute = 7;

describe('weir gateway --workers', () => {
  let simulated: SimulatedProgram;
  let good: Record<string, unknown>;
  before(async () => {
    simulated = await startSimulatedProgram({
      weir: { command: 'gateway', commandArguments: ['--workers', '3'], environment: { WEIR_LOG_LEVEL: 'info' } },
      timeouts: { drainDelayMs: 0 },
      models: {
        limited: { targets: [{ upstream: 'openai', model: 'gpt-4.1' }], limits: { requestsPerMinute: perMinute } },
        narrow: { targets: [{ upstream: 'openai', model: 'gpt-4.1' }], limits: { concurrency: 3 } },
      },
    });
    good = JSON.parse(readFileSync(join(simulated.weir.dataDirectory, 'weir.yaml'), 'utf8'));
  });
  after(() => simulated[Symbol.asyncDispose]());

  const pids = () => workerPids(simulated.weir.process.pid ?? 0);
  const send = (model: string, more: { readonly headers?: Record<string, string>; readonly stream?: boolean } = {}) =>
    openCall(`${simulated.weir.gatewayUrl}${chat.path(model)}`, {
      // The longest time that a connection may wait for a worker: three of them start at a time, on a machine that runs
      // other suites.
      limitMs: soonMs,
      headers: { authorization: `Bearer ${simulated.weir.apiKey}`, ...more.headers },
      body: JSON.stringify(chat.body(model, 'Hello', more.stream === true)),
    });
  /** New connections go to all workers in turn. */
  const statuses = async (model: string, count: number): Promise<readonly number[]> =>
    Promise.all(Array.from({ length: count }, async () => (await send(model).done).status));

  test('there is one ready line, and as many processes as configured', () => {
    assert.equal(simulated.weir.output().match(/^weir ready:/gm)?.length, 1);
    assert.equal(pids().length, 3);
  });

  test('a limit applies exactly to all workers together', async () => {
    const seen = await statuses('limited', 30);
    assert.equal(seen.filter((status) => status === 200).length, perMinute);
    assert.equal(seen.filter((status) => status === 429).length, 30 - perMinute);
  });

  test('slots are released when calls end, and when their worker is killed', async () => {
    const slow = { headers: { 'x-simulator-output-tokens': '3000', 'x-simulator-pace': 'tokensPerSecond=50' }, stream: true };
    const calls = [send('narrow', slow), send('narrow', slow), send('narrow', slow)];
    for (const each of calls) assert.equal((await each.head).statusCode, 200);
    assert.deepEqual(
      await statuses('narrow', 6),
      Array.from({ length: 6 }, () => 429),
    );
    const before = pids();
    for (const pid of before) process.kill(pid, 'SIGKILL');
    await Promise.all(calls.map(({ done }) => done));
    // A connection that arrives while there is no worker waits for one.
    assert.deepEqual(await statuses('narrow', 1), [200]);
    await eventually(
      () => pids().filter((pid) => !before.includes(pid)).length,
      (count) => count === 3,
      soonMs,
    );
    assert.deepEqual(await statuses('narrow', 3), [200, 200, 200]);
    assert.match(simulated.weir.output(), /"worker died"/);
  });

  test('a stored reply can be continued at once, whichever worker gets the next call', async () => {
    const responses = chatInterfaces.find(({ dialect }) => dialect === 'openai-responses');
    assert.ok(responses);
    const url = `${simulated.weir.gatewayUrl}${responses.path(responses.model)}`;
    const headers = { authorization: `Bearer ${simulated.weir.apiKey}` };
    const ask = async (more: object) => {
      const { text, status } = await openCall(url, {
        headers,
        body: JSON.stringify({ ...responses.body(responses.model, 'Hello'), store: true, ...more }),
      }).done;
      return { status, text, id: (JSON.parse(text) as { id?: string }).id };
    };
    let last = await ask({});
    for (let round = 0; round < 12; round++) {
      const next = await ask({ previous_response_id: last.id });
      assert.equal(next.status, 200, next.text);
      last = next;
    }
    // Only when the journals of the killed workers are recovered: until then it might exist.
    await eventually(
      async () => (await ask({ previous_response_id: 'resp_of_nobody' })).status,
      (status) => status === 400,
      soonMs,
    );
  });

  test('a reload reaches all workers; an invalid file reaches none, also no worker that starts later', async () => {
    const path = join(simulated.weir.dataDirectory, 'weir.yaml');
    const alias = { ...good, models: { 'made-later': { targets: [{ upstream: 'openai', model: 'gpt-4.1' }] } } };
    writeFileSync(path, JSON.stringify(alias));
    const writtenMs = performance.now();
    simulated.weir.process.kill('SIGHUP');
    // Workers that another test has killed may still be starting, and read the file a second later: the invalid file
    // must come afterwards.
    await eventually(
      () => statuses('made-later', 9),
      (seen) => seen.every((status) => status === 200) && performance.now() - writtenMs > 6000,
      soonMs,
    );
    writeFileSync(path, '{"upstraems": {}}');
    simulated.weir.process.kill('SIGHUP');
    await eventually(
      () => simulated.weir.output().match(/configuration reload failed/g)?.length ?? 0,
      (times) => times >= 3,
      soonMs,
    );
    const [first] = pids();
    assert.ok(first !== undefined);
    process.kill(first, 'SIGKILL');
    await eventually(
      () => pids(),
      (now) => now.length === 3 && !now.includes(first),
      soonMs,
    );
    await eventually(
      () => /configuration rejected at start/.test(simulated.weir.output()),
      (told) => told,
      soonMs,
    );
    assert.deepEqual(
      await statuses('made-later', 9),
      Array.from({ length: 9 }, () => 200),
    );
    writeFileSync(path, JSON.stringify(good));
  });

  test('a key that is made or disabled is known to all workers within seconds', async () => {
    const environment = { WEIR_DATA_DIR: simulated.weir.dataDirectory };
    const created = await runCommand(['keys', 'create', '--user', 'ann', '--name', 'laptop'], environment);
    const secret = /sk-weir-\S+/.exec(created.stdout)?.[0] ?? '';
    const seen = async () =>
      Promise.all(
        Array.from(
          { length: 6 },
          async () =>
            (await call(`${simulated.weir.gatewayUrl}/v1/models`, { headers: { 'x-api-key': secret, connection: 'close' } })).status,
        ),
      );
    await eventually(seen, (all) => all.every((status) => status === 200));
  });

  test('a second gateway on the same data directory is refused with a message', async () => {
    const second = await runWeir(['gateway', '--workers', '2'], {
      WEIR_DATA_DIR: simulated.weir.dataDirectory,
      WEIR_CONFIG: join(simulated.weir.dataDirectory, 'weir.yaml'),
      WEIR_PORT: '0',
    });
    assert.equal(second.code, 1);
    assert.match(second.stderr, /^weir: The data directory .* is in use by process \d+/);
  });
});

test('the reason why a worker cannot start is reported once, unchanged', async () => {
  for (const [count, problem] of [
    ['2', /^weir: [^]*there is no upstream/],
    ['0', /^weir: --workers must be a number from 1 to/],
    ['many', /^weir: --workers must be a number from 1 to/],
  ] as const) {
    const directory = mkdtempSync(join(tmpdir(), 'weir-bad-'));
    const ended = await runWeir(['gateway', '--workers', count], { WEIR_DATA_DIR: directory, WEIR_PORT: '0' }, directory);
    rmSync(directory, { recursive: true, force: true });
    assert.equal(ended.code, 1, ended.stderr);
    assert.match(ended.stderr, problem);
  }
});

test('when a primary is killed, its workers finish their calls; the next start shares the directory with them', async () => {
  await using simulated = await startSimulatedProgram({
    weir: { command: 'gateway', commandArguments: ['--workers', '2'] },
    timeouts: { drainDelayMs: 0, drainMs: 20_000 },
  });
  const { weir } = simulated;
  const calls = [1, 3, 5, 7].map((number) =>
    makeCall(weir.gatewayUrl, weir.apiKey, {
      ...modeOf(number),
      stream: true,
      number,
      steer: { 'output-tokens': '600', pace: 'tokensPerSecond=200;tokensPerFrame=10' },
    }),
  );
  await eventually(
    () => simulated.simulator.records().filter(({ headersAtMs }) => headersAtMs !== undefined).length,
    (running) => running === calls.length,
  );
  await weir.stop('SIGKILL');
  await using again = await startWeir({
    dataDirectory: weir.dataDirectory,
    environment: { WEIR_CONFIG: `${weir.dataDirectory}/weir.yaml` },
    command: 'gateway',
    commandArguments: ['--workers', '2'],
  });
  for (const view of await Promise.all(calls)) assert.ok(view.complete, view.text.slice(-200));
  const answer = await post(`${again.gatewayUrl}${chat.path(chat.model)}`, chat.body(chat.model, 'Hello'), {
    authorization: `Bearer ${again.apiKey}`,
  });
  assert.equal(answer.status, 200);
});
