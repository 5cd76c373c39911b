import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';

import type { OtlpSpan } from '../../../gateway/telemetry/call-spans.ts';
import { systemClock } from '../../../platform/clock.ts';
import { readTracing, type Tracing } from './read-tracing.ts';
import { SpanExporter } from './span-exporter.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Batch = { readonly path: string | undefined; readonly headers: Readonly<Record<string, unknown>>; readonly names: readonly string[] };

/** A collector that answers with these statuses in order, and then with 200; 0 means no answer. */
async function collect(...answers: readonly number[]) {
  const batches: Batch[] = [];
  const left = [...answers];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[] };
      const spans = body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
      batches.push({ path: request.url, headers: request.headers, names: spans.map(({ name }) => name) });
      const status = left.shift() ?? 200;
      if (status !== 0) response.writeHead(status).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, batches };
}

function open(url: string, more: Partial<Tracing> = {}) {
  const warnings: unknown[] = [];
  const variables: Record<string, string> = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-secret,x-team=a',
  };
  const tracing = readTracing((name) => variables[name]);
  assert.ok(tracing !== undefined);
  const logger = { warn: (...entry: unknown[]) => void warnings.push(entry) };
  return { exporter: new SpanExporter({ ...tracing, ...more }, logger, systemClock.monotonicMs), warnings };
}

const span = (name: string): OtlpSpan => ({
  traceId: '0'.repeat(31) + '1',
  spanId: '0'.repeat(15) + '1',
  flags: 1,
  name,
  kind: 2,
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
  attributes: [],
  status: {},
});
const spans = (count: number): readonly OtlpSpan[] => Array.from({ length: count }, (_, index) => span(`s${index}`));

test('spans arrive in batches at the configured path with the configured headers, the last ones at shutdown', async () => {
  const { url, batches } = await collect();
  const { exporter } = open(url, { batchMax: 2 });
  exporter.add(spans(5));
  await exporter.close(30_000);
  assert.deepEqual(
    batches.map(({ names }) => names),
    [['s0', 's1'], ['s2', 's3'], ['s4']],
  );
  const [first] = batches;
  assert.equal(first?.path, '/v1/traces');
  assert.deepEqual(
    [first?.headers['content-type'], first?.headers['authorization'], first?.headers['x-team']],
    ['application/json', 'Bearer collector-secret', 'a'],
  );
  assert.deepEqual(exporter.counts(), { sent: 5, dropped: 0 });
});

test('a batch is retried if the collector is overloaded, and not if it refuses', async () => {
  const troubled = await collect(503);
  const patient = open(troubled.url);
  patient.exporter.add(spans(1));
  await patient.exporter.close(30_000);
  assert.deepEqual([troubled.batches.length, patient.exporter.counts(), patient.warnings.length], [2, { sent: 1, dropped: 0 }, 0]);
  const refusing = await collect(401, 401);
  const refused = open(refusing.url, { batchMax: 1 });
  refused.exporter.add(spans(2));
  await refused.exporter.close(30_000);
  assert.deepEqual(refused.exporter.counts(), { sent: 0, dropped: 2 });
  assert.equal(refused.warnings.length, 1, 'one warning a minute');
  assert.match(JSON.stringify(refused.warnings), /"answer":401/);
  assert.doesNotMatch(JSON.stringify(refused.warnings), /collector-secret/);
});

test('the queue is bounded, and a silent collector delays shutdown by at most the limit', async () => {
  const { url } = await collect(0, 0, 0);
  const { exporter, warnings } = open(url, { queueMax: 10, timeoutMs: 60_000 });
  exporter.add(spans(1000));
  assert.deepEqual(exporter.counts(), { sent: 0, dropped: 990 });
  const startedMs = performance.now();
  await exporter.close(100);
  assert.ok(performance.now() - startedMs < 30_000);
  assert.deepEqual(exporter.counts(), { sent: 0, dropped: 1000 });
  assert.equal(warnings.length, 1);
});

test('without a collector, spans are dropped and logged without the address', async () => {
  const { exporter, warnings } = open('http://127.0.0.1:1/?key=secret-in-address');
  exporter.add(spans(1));
  await exporter.close(300);
  assert.equal(exporter.counts().dropped, 1);
  assert.doesNotMatch(JSON.stringify(warnings), /secret-in-address/);
});
