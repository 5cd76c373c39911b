import assert from 'node:assert/strict';
import { test } from 'node:test';

import { silentLogger } from '../../../platform/log.ts';
import { createMetricRegistry } from '../../../platform/metrics/metric-registry.ts';
import { readExposition, sumSamples } from '../../../platform/metrics/testing/read-exposition.ts';
import { StartError } from '../../environment.ts';
import { addProcessMetrics } from './process-metrics.ts';
import { serveMetrics } from './serve-metrics.ts';

async function ask(url: string, method = 'GET') {
  // oxlint-disable-next-line no-restricted-globals
  const answer = await fetch(url, { method });
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
}

test('the metrics of all processes are at one path, and other paths are 404', async () => {
  const registry = createMetricRegistry();
  const stop = addProcessMetrics(registry);
  registry.counter({ name: 'a_total', help: 'a' }).with().add(2);
  const options = { host: '127.0.0.1', port: 0, logger: silentLogger };
  const server = await serveMetrics({ ...options, snapshots: () => Promise.resolve([registry.snapshot(), registry.snapshot()]) });
  try {
    const { status, type, text } = await ask(server.url);
    assert.deepEqual([status, type], [200, 'text/plain; version=0.0.4; charset=utf-8']);
    const samples = readExposition(text);
    assert.equal(sumSamples(samples, 'a_total'), 4);
    assert.ok(sumSamples(samples, 'process_resident_memory_bytes') > 10_000_000);
    assert.ok(sumSamples(samples, 'process_cpu_seconds_total') > 0);
    assert.equal((await ask(`${server.url}?x=1`)).status, 200);
    assert.deepEqual(await ask(server.url, 'HEAD'), { status: 200, type, text: '' });
    assert.equal((await ask(server.url, 'POST')).status, 405);
    assert.equal((await ask(server.url.replace('/metrics', '/'))).status, 404);
    const { port } = new URL(server.url);
    await assert.rejects(serveMetrics({ ...options, port: Number(port), snapshots: () => Promise.resolve([]) }), (error) => {
      return error instanceof StartError && /WEIR_METRICS_PORT/.test(error.message);
    });
  } finally {
    stop();
    await server.close();
  }
});

test('a failure to read metrics affects only this answer', async () => {
  const server = await serveMetrics({
    host: '127.0.0.1',
    port: 0,
    logger: silentLogger,
    snapshots: () => Promise.reject(new Error('a worker died')),
  });
  try {
    const { status, text } = await ask(server.url);
    assert.equal(status, 500);
    assert.doesNotMatch(text, /worker died/);
  } finally {
    await server.close();
  }
});
