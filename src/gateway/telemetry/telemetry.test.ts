import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { GatewayError } from '../../inference/gateway-error.ts';
import { silentLogger } from '../../platform/log.ts';
import { createMetricRegistry } from '../../platform/metrics/metric-registry.ts';
import { readExposition, sumSamples } from '../../platform/metrics/testing/read-exposition.ts';
import { renderMetrics } from '../../platform/metrics/render-metrics.ts';
import { createCallMetrics } from './call-metrics.ts';
import { createSilentReport, type EndedCall } from './call-report.ts';
import { beginFakeCall, fakeEntry } from './testing/fake-call.ts';
import { createTelemetry } from './telemetry.ts';

const refusal = new GatewayError('rate_limited', 'no');

function follow() {
  let nowMs = 0;
  const clock = { nowMs: () => 1000, monotonicMs: () => nowMs };
  const registry = createMetricRegistry();
  const told: EndedCall[] = [];
  const telemetry = createTelemetry({
    clock,
    logger: silentLogger,
    log: { callsEnded: (calls) => void told.push(...calls) },
    metrics: createCallMetrics({ registry, isListed: () => true, monotonicMs: clock.monotonicMs }),
  });
  const inFlight = (): readonly number[] => {
    const samples = readExposition(renderMetrics([registry.snapshot()]));
    return [sumSamples(samples, 'weir_calls_in_flight'), sumSamples(samples, 'weir_streams_in_flight')];
  };
  return { telemetry, told, inFlight, advance: (ms: number) => void (nowMs += ms) };
}

const request = { path: '/', method: 'POST', headers: { a: 'b' }, body: undefined } as const;

test('a call is reported once, when both its client and the books are done with it, in any order', () => {
  const orders = [
    ['settle', 'close'],
    ['close', 'settle'],
    ['settle', 'close', 'close', 'settle'],
  ];
  for (const order of orders) {
    const { telemetry, told, inFlight } = follow();
    const { report, reply } = beginFakeCall(telemetry);
    report.facts = { requestedModel: 'm', stream: true };
    report.exchanging();
    assert.equal(telemetry.attempt(report, request), request);
    assert.deepEqual(inFlight(), [1, 1]);
    for (const step of order) {
      telemetry.flush();
      if (step === 'close') reply.close(200);
      else report.settled(fakeEntry, undefined);
    }
    telemetry.flush();
    assert.deepEqual(
      told.map(({ end, status, durationMs }) => [end, status, durationMs]),
      [['finished', 200, 1500]],
    );
    assert.deepEqual(inFlight(), [0, 0]);
  }
});

test('a stream that the gateway requests for itself is not counted as one of a client', () => {
  const { telemetry, inFlight } = follow();
  const report = createSilentReport();
  report.facts = { requestedModel: 'm', stream: true };
  telemetry.attempt(report, request);
  report.settled(fakeEntry, undefined);
  assert.deepEqual(inFlight(), [0, 0]);
});

test('a stream that begins after its call was reported is not counted', () => {
  const { telemetry, inFlight } = follow();
  const { report, reply } = beginFakeCall(telemetry);
  report.facts = { requestedModel: 'm', stream: true };
  reply.close(0);
  telemetry.flush();
  report.exchanging();
  telemetry.attempt(report, request);
  report.settled(fakeEntry, undefined);
  telemetry.flush();
  assert.deepEqual(inFlight(), [0, 0]);
});

test('a refused call is reported with its error and was never in flight as a stream', () => {
  const { telemetry, told, inFlight, advance } = follow();
  const { report, reply } = beginFakeCall(telemetry);
  report.facts = { requestedModel: 'm', stream: true };
  advance(7);
  report.refused(refusal);
  reply.close(429);
  telemetry.flush();
  assert.deepEqual([told[0]?.end, told[0]?.status, told[0]?.durationMs, told[0]?.report.error?.code], ['refused', 429, 7, 'rate_limited']);
  assert.deepEqual(inFlight(), [0, 0]);
});

test('a refusal after the call was about to enter the books is a refusal', () => {
  const { telemetry, told } = follow();
  const { report, reply } = beginFakeCall(telemetry);
  report.exchanging();
  report.refused(new GatewayError('journal_unavailable', 'no'));
  reply.close(503);
  telemetry.flush();
  assert.equal(told[0]?.end, 'refused');
});

test('a client that disconnects before anything is known, or before its refusal, is reported too', () => {
  const { telemetry, told } = follow();
  beginFakeCall(telemetry).reply.close(undefined);
  const early = beginFakeCall(telemetry);
  early.report.refused(refusal);
  early.reply.close(undefined);
  // The refusal of a request whose connection is already closed.
  const gone = beginFakeCall(telemetry);
  gone.reply.destroyed = true;
  const late = beginFakeCall(telemetry, {}, { response: gone.report.response });
  late.report.refused(refusal);
  telemetry.flush();
  assert.deepEqual(
    told.map(({ end, status }) => [end, status]),
    [
      ['client-left', undefined],
      ['refused', undefined],
      ['refused', undefined],
    ],
  );
});

test('a call whose reply had closed before it began is reported, also if it has neither a charge nor an error', async () => {
  const { telemetry, told, inFlight } = follow();
  const { reply, report } = beginFakeCall(telemetry);
  reply.close(undefined);
  beginFakeCall(telemetry, {}, { response: report.response });
  await setImmediate();
  telemetry.flush();
  assert.deepEqual(
    told.map(({ end }) => end),
    ['client-left', 'client-left'],
  );
  assert.deepEqual(inFlight(), [0, 0]);
});

test('calls are reported at the end of the turn, not while they end', async () => {
  const { telemetry, told } = follow();
  const { report, reply } = beginFakeCall(telemetry);
  report.ended('finished', undefined);
  reply.close(200);
  assert.equal(told.length, 0);
  await setImmediate();
  assert.equal(told.length, 1);
});

test('a sink that fails breaks neither the call nor the other sinks', () => {
  const told: EndedCall[] = [];
  const failures: unknown[] = [];
  const telemetry = createTelemetry({
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    logger: { error: (...entry: unknown[]) => void failures.push(entry) },
    log: {
      callsEnded: () => {
        throw new Error('defect');
      },
    },
    traces: { sink: { callsEnded: (calls) => void told.push(...calls) }, sampling: { followsCaller: true, ratio: 1 } },
  });
  const { report, reply } = beginFakeCall(telemetry);
  report.refused(refusal);
  reply.close(429);
  telemetry.flush();
  assert.deepEqual([told.length, failures.length], [1, 1]);
});
