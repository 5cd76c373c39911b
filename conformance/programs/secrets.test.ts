import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { call, eventually, post } from '../support/http.ts';
import { openLedger } from '../support/read-ledger.ts';
import { arrayInterface, chatInterfaces } from '../support/interfaces.ts';
import { openCall } from '../support/open-call.ts';
import { filesBelow, readIfThere } from '../support/read-files.ts';
import { type Collector, startCollector } from '../support/start-collector.ts';
import { type SimulatedProgram, startSimulatedProgram, upstreamKey } from '../support/start-simulated-weir.ts';
import { runCommand } from './run-command.ts';

const environment = {
  WEIR_API_KEY: 'client-secret-5f2b9c',
  WEIR_BILLING_TOKEN: 'billing-secret-77aa01',
  WEIR_LOG_LEVEL: 'debug',
  WEIR_METRICS_PORT: '0',
};
const collectorSecret = 'collector-secret-3ab941';
/** Planted in prompts, system prompts and tool descriptions. */
const promptCanary = 'prompt-canary-1d9e4b';
/** Planted in replies. */
const replyCanary = 'reply-canary-c03f88';
const wrongKey = 'wrong-secret-e81d33';
const madeUser = 'mallory';

let collector: Collector;
let simulated: SimulatedProgram;
let madeSecret = '';
const received: string[] = [];
before(async () => {
  collector = await startCollector();
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${collectorSecret}` };
  simulated = await startSimulatedProgram({
    timeouts: { firstByteMs: 400, idleMs: 400 },
    weir: { environment: { ...environment, ...traces } },
  });
});
after(async () => {
  await simulated[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

const faults = [
  '',
  'status;status=400',
  'status;status=500',
  'html;status=502',
  'echo-credentials;status=401',
  'echo-credentials;status=403',
  'refuse',
  'reset-before-headers',
  'stall-before-headers',
  'reset-mid-stream;after=3',
  'truncate;how=end;after=3',
  'stall-mid-stream;after=3',
  'malformed-event;after=3',
  'error-event;after=3',
  'gzip',
  'conflicting-lengths',
];

/** Every available kind of call and failure, each with canaries. */
async function makeTrouble(): Promise<void> {
  const { weir } = simulated;
  for (const api of [...chatInterfaces, arrayInterface]) {
    for (const stream of [false, true]) {
      await Promise.all(
        faults.map(async (fault) => {
          const reply = await openCall(`${weir.gatewayUrl}${api.path(api.model, stream)}`, {
            headers: {
              ...api.headers,
              'x-api-key': environment.WEIR_API_KEY,
              'x-simulator-text': replyCanary,
              ...(fault === '' ? {} : { 'x-simulator-fault': fault }),
            },
            body: JSON.stringify(api.body(api.model, promptCanary, stream)),
          }).done;
          received.push(JSON.stringify(reply.headers), reply.text);
        }),
      );
    }
    const url = `${weir.gatewayUrl}${api.path(api.model)}`;
    const withQuery = (key: string) => `${url}${url.includes('?') ? '&' : '?'}key=${key}`;
    const body = api.body(api.model, promptCanary);
    const bad = [
      post(withQuery(environment.WEIR_API_KEY), body, api.headers),
      post(withQuery(wrongKey), body, api.headers),
      post(url, body, { ...api.headers, authorization: `Bearer ${wrongKey}` }),
      post(url, { ...body, temperature: promptCanary }, { ...api.headers, 'x-api-key': environment.WEIR_API_KEY }),
      post(url, { ...body, model: 'no-such-model' }, { ...api.headers, 'x-api-key': environment.WEIR_API_KEY }),
      post(`${weir.gatewayUrl}/v1/nothing?key=${wrongKey}`, body, {}),
    ];
    for (const answer of await Promise.all(bad)) received.push(JSON.stringify(answer.headers), answer.text.replaceAll(promptCanary, ''));
  }
  const now = Math.floor(Date.now() / 1000);
  for (const token of [environment.WEIR_BILLING_TOKEN, wrongKey]) {
    received.push((await post(`${weir.monitorUrl}/bill/stats`, { type: 3, startTime: now - 60, endTime: now + 60 }, { token })).text);
  }
}

test("F86: no secret and no prompt is in the data directory, in the log, or in another client's answer", async () => {
  const created = await runCommand(['keys', 'create', '--user', madeUser, '--name', 'one'], {
    WEIR_DATA_DIR: simulated.weir.dataDirectory,
  });
  madeSecret = created.stdout.trim();
  assert.match(madeSecret, /^sk-weir-/);
  await makeTrouble();
  const ledger = await openLedger(simulated.weir.dataDirectory);
  const calls = simulated.simulator.records().length;
  await eventually(
    async () => (await ledger.all()).length,
    (rows) => rows >= calls - 5,
  );
  await ledger.close();
  // As text, and as base64 at any of the three offsets.
  const forms = (secret: string): readonly string[] => [
    secret,
    ...[0, 1, 2].map((skip) => Buffer.from(secret.slice(skip, skip + Math.floor((secret.length - skip) / 3) * 3)).toString('base64')),
  ];
  const { WEIR_API_KEY, WEIR_BILLING_TOKEN } = environment;
  const secrets = { WEIR_API_KEY, WEIR_BILLING_TOKEN, upstreamKey, promptCanary, replyCanary, madeSecret, collectorSecret };
  const look = (where: string, bytes: Buffer, names: readonly string[]): readonly string[] =>
    names.flatMap((name) =>
      forms(secrets[name as keyof typeof secrets]).some((form) => bytes.includes(form)) ? [`${name} in ${where}`] : [],
    );
  const all = Object.keys(secrets);
  const found: string[] = [];
  const inFiles = (): void => {
    for (const path of filesBelow(simulated.weir.dataDirectory)) {
      // The configuration is the operator's own file; this test keeps it in the same directory.
      if (!path.endsWith('weir.yaml')) found.push(...look(path, readIfThere(path), all));
    }
  };
  inFiles();
  for (const text of received)
    found.push(...look('an answer', Buffer.from(text), ['WEIR_API_KEY', 'WEIR_BILLING_TOKEN', 'upstreamKey', 'madeSecret']));
  const metrics = await call(simulated.weir.metricsUrl);
  assert.match(metrics.text, /^weir_calls_total\{/m);
  found.push(...look('the metrics', Buffer.from(metrics.text), all));
  assert.equal(await simulated.weir.stop('SIGTERM'), 0);
  inFiles();
  found.push(...look('the log', Buffer.from(simulated.weir.output()), all));
  assert.match(simulated.weir.output(), /"msg":"call finished"/);
  assert.ok(collector.spans.length > calls, 'each call has its span, and the last ones are sent at the end');
  found.push(...look('the traces', Buffer.from(collector.text()), all));
  for (const text of [simulated.weir.output(), metrics.text, collector.text()])
    assert.ok(!text.includes(wrongKey), 'a wrong key may be valid at another service');
  assert.deepEqual([...new Set(found)], []);
});

test('the files of the data directory are only accessible to their owner', () => {
  for (const path of filesBelow(simulated.weir.dataDirectory)) {
    // The operator's own file, and the lock, which is empty and gets its mode from the database engine.
    if (path.endsWith('weir.yaml') || path.endsWith('weir.lock')) continue;
    assert.equal(statSync(path).mode & 0o077, 0, path);
  }
  assert.equal(statSync(join(simulated.weir.dataDirectory, 'journal')).mode & 0o077, 0);
});
