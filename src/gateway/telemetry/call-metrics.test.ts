import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { isBilled } from '../../billing/ledger/call-entry.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { standaloneMeters } from '../../inference/meters.ts';
import { silentLogger } from '../../platform/log.ts';
import { createMetricRegistry } from '../../platform/metrics/metric-registry.ts';
import { readExposition, sumSamples } from '../../platform/metrics/testing/read-exposition.ts';
import { renderMetrics } from '../../platform/metrics/render-metrics.ts';
import { createCallMetrics } from './call-metrics.ts';
import type { CallEntry } from '../../billing/ledger/call-entry.ts';

import { beginFakeCall, fakeEntry, tellFakeCall } from './testing/fake-call.ts';
import { idleGate } from '../admission/overload/gatekeeper.ts';
import { addGatewayGauges } from '../server/gateway-gauges.ts';
import { createTelemetry } from './telemetry.ts';

function count(listed: readonly string[] = ['gpt-4.1', 'gemini-2']) {
  const registry = createMetricRegistry();
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const metrics = createCallMetrics({ registry, isListed: (model) => listed.includes(model), monotonicMs: clock.monotonicMs });
  const telemetry = createTelemetry({ clock, logger: silentLogger, metrics });
  const samples = () => {
    telemetry.flush();
    return readExposition(renderMetrics([registry.snapshot()]));
  };
  return { registry, telemetry, samples };
}

const calls = fc.array(
  fc.record({
    end: fc.constantFrom('finished', 'client-left', 'cut', 'failed'),
    dialect: fc.constantFrom('openai-chat', 'gemini-generate-content'),
    requestedModel: fc.constantFrom('gpt-4.1', 'gemini-2', 'unknown-1', 'unknown-2'),
    upstream: fc.constantFrom('one', 'two'),
    stream: fc.boolean(),
    usage: fc.record(
      { inputTokens: fc.nat(), cacheReadTokens: fc.nat(), cacheWrite1hTokens: fc.nat(), outputTokens: fc.nat() },
      { requiredKeys: [] },
    ),
    charge: fc.record({ amountNanoUsd: fc.bigInt({ min: 0n, max: 10n ** 12n }), lines: fc.constant([]) }),
    durationMs: fc.nat(100_000),
  }),
  { maxLength: 40 },
);

test('the counts add up to the books, whatever is in them', () => {
  fc.assert(
    fc.property(calls, (all) => {
      const { telemetry, samples } = count();
      const entries: readonly CallEntry[] = all.map((call) => ({ ...fakeEntry, ...call }));
      for (const entry of entries) tellFakeCall(telemetry, entry);
      const shown = samples();
      const sum = (of: (entry: CallEntry) => number): number => entries.reduce((total, entry) => total + of(entry), 0);
      assert.equal(sumSamples(shown, 'weir_calls_total'), entries.length);
      assert.equal(
        sumSamples(shown, 'weir_calls_total', { upstream: 'one', end: 'cut' }),
        entries.filter(({ upstream, end }) => upstream === 'one' && end === 'cut').length,
      );
      assert.equal(sumSamples(shown, 'gen_ai_server_request_duration_seconds_count'), entries.length);
      assert.equal(
        sumSamples(shown, 'weir_tokens_total', { type: 'output' }),
        sum(({ usage }) => usage.outputTokens ?? 0),
      );
      assert.equal(
        sumSamples(shown, 'weir_tokens_total', { type: 'cache_read' }),
        sum(({ usage }) => usage.cacheReadTokens ?? 0),
      );
      assert.equal(
        sumSamples(shown, 'weir_tokens_total', { type: 'cache_write_1h' }),
        sum(({ usage }) => usage.cacheWrite1hTokens ?? 0),
      );
      const billed = entries.filter((entry) => isBilled(entry)).length;
      assert.equal(sumSamples(shown, 'gen_ai_client_token_usage_count', { gen_ai_token_type: 'output' }), billed);
      for (const model of ['gpt-4.1', 'gemini-2', 'other']) {
        const own = entries.filter(({ requestedModel }) => (requestedModel.startsWith('unknown') ? 'other' : requestedModel) === model);
        for (const dialect of ['openai-chat', 'gemini-generate-content']) {
          for (const upstream of ['one', 'two']) {
            const cost = own
              .filter((entry) => entry.dialect === dialect && entry.upstream === upstream)
              .reduce((total, { charge }) => total + charge.amountNanoUsd, 0n);
            const sample = shown.find(
              ({ name, labels }) =>
                name === 'weir_cost_usd_total' &&
                labels['model'] === model &&
                labels['dialect'] === dialect &&
                labels['upstream'] === upstream,
            );
            assert.equal(sample?.text ?? '0', usdDecimal(cost));
          }
        }
      }
    }),
    { numRuns: 50 },
  );
});

test('ten thousand unknown models are one label', () => {
  const { telemetry, samples } = count();
  for (let index = 0; index < 10_000; index++) tellFakeCall(telemetry, { ...fakeEntry, requestedModel: `invented-${index}` });
  const shown = samples();
  assert.equal(sumSamples(shown, 'weir_calls_total', { model: 'other' }), 10_000);
  assert.ok(shown.length < 250, `${shown.length} samples`);
  assert.ok(!shown.some(({ labels }) => Object.values(labels).some((value) => value.includes('invented'))));
});

test('no label names the caller', () => {
  const { telemetry, samples } = count();
  tellFakeCall(telemetry, fakeEntry);
  assert.ok(!samples().some(({ labels }) => Object.values(labels).some((value) => /alice|laptop|key_1|req_1/.test(value))));
});

test('attempts, retries, refusals and limits are counted by their failure', () => {
  const { telemetry, samples } = count();
  tellFakeCall(telemetry, {
    ...fakeEntry,
    failedAttempts: [
      { upstream: 'two', credential: 'two', upstreamModel: 'm', upstreamStatus: 503, errorCode: 'upstream_error', durationMs: 1 },
      { upstream: 'two', credential: 'two', upstreamModel: 'm', upstreamStatus: 429, errorCode: 'upstream_rate_limited', durationMs: 1 },
      { upstream: 'three', credential: 'three', upstreamModel: 'm', errorCode: 'upstream_timeout', durationMs: 1 },
    ],
  });
  const { report, reply } = beginFakeCall(telemetry);
  report.refused(new GatewayError('rate_limited', 'no', { exceededLimit: { scope: 'key', of: 'tokens', limit: 1, used: 1, needed: 1 } }));
  report.queueMs = 300;
  reply.close(429);
  telemetry.malformed('invalid_http_request');
  const shown = samples();
  assert.equal(sumSamples(shown, 'weir_attempts_total', { upstream: 'two', result: '5xx' }), 1);
  assert.equal(sumSamples(shown, 'weir_attempts_total', { upstream: 'one', result: '2xx' }), 1);
  assert.equal(sumSamples(shown, 'weir_retries_total', { upstream: 'two', reason: '429' }), 1);
  assert.equal(sumSamples(shown, 'weir_retries_total', { reason: 'upstream_timeout' }), 1);
  assert.equal(sumSamples(shown, 'weir_refusals_total', { code: 'rate_limited' }), 1);
  assert.equal(sumSamples(shown, 'weir_refusals_total', { code: 'invalid_http_request' }), 1);
  assert.equal(sumSamples(shown, 'weir_limit_refusals_total', { scope: 'key', of: 'tokens' }), 1);
  assert.equal(sumSamples(shown, 'weir_queue_wait_seconds_sum'), 0.3);
});

test('times of a stream are those of its entry, and the gaps between its pieces are counted', () => {
  const { telemetry, samples } = count();
  telemetry.chunkGaps(fakeEntry)?.observe(0.03);
  tellFakeCall(telemetry, fakeEntry);
  tellFakeCall(telemetry, { ...fakeEntry, stream: false });
  const shown = samples();
  assert.equal(sumSamples(shown, 'gen_ai_server_time_to_first_token_seconds_sum'), 0.5);
  assert.equal(sumSamples(shown, 'gen_ai_server_time_per_output_token_seconds_sum'), 0.1);
  assert.equal(sumSamples(shown, 'gen_ai_client_operation_time_per_output_chunk_seconds_sum', { gen_ai_request_model: 'gpt-4.1' }), 0.03);
});

test('a finished video is counted with its cost, and not as a call without tokens', () => {
  const { telemetry, samples } = count(['vendor-imagine-video']);
  const video: CallEntry = {
    ...fakeEntry,
    dialect: 'xai-videos',
    vendor: 'xai',
    requestedModel: 'vendor-imagine-video',
    stream: false,
    usage: { outputVideoMs: 5000 },
    durationMs: 42_000,
    charge: { amountNanoUsd: 250_000_000n, lines: [] },
  };
  telemetry.booked(video);
  telemetry.booked({ ...video, end: 'failed', usage: {}, errorCode: 'upstream_failed', charge: { amountNanoUsd: 0n, lines: [] } });
  const shown = samples();
  const model = 'vendor-imagine-video';
  assert.equal(sumSamples(shown, 'weir_calls_total', { dialect: 'xai-videos', model, end: 'finished', status: 'none' }), 1);
  assert.equal(sumSamples(shown, 'weir_calls_total', { dialect: 'xai-videos', end: 'failed' }), 1);
  assert.equal(sumSamples(shown, 'weir_cost_usd_total', { dialect: 'xai-videos', model }), 0.25);
  assert.equal(sumSamples(shown, 'gen_ai_server_request_duration_seconds_sum', { gen_ai_operation_name: 'generate_content' }), 84);
  assert.equal(sumSamples(shown, 'gen_ai_client_token_usage_count'), 0);
  // No client came for it, so none leaves.
  assert.equal(sumSamples(shown, 'weir_calls_in_flight'), 0);
});

test('a call that is billed in another unit than tokens is never counted as one without tokens', () => {
  for (const meter of standaloneMeters) {
    const { telemetry, samples } = count();
    telemetry.booked({ ...fakeEntry, usage: { [meter]: 3 } });
    assert.equal(sumSamples(samples(), 'gen_ai_client_token_usage_count'), 0, meter);
  }
});

test('the journal and the targets are read when metrics are requested', () => {
  const { registry, samples } = count();
  const reasons: string[] = [];
  addGatewayGauges(registry, {
    journal: { pendingEntries: () => 3, unavailableReason: () => reasons[0] },
    health: {
      report: () => [
        {
          upstreamId: 'one',
          credentialId: 'a',
          upstreamModel: 'm',
          state: 'failing',
          againInMs: 5,
          inFlight: 2,
          consecutiveFailures: 7,
          hasAnswered: true,
        },
      ],
    },
    gatekeeper: { state: () => ({ ...idleGate, inFlight: 4, waiting: 1 }) },
  });
  assert.equal(sumSamples(samples(), 'weir_gate_calls', { state: 'in-flight' }), 4);
  assert.equal(sumSamples(samples(), 'weir_gate_calls', { state: 'waiting' }), 1);
  assert.equal(sumSamples(samples(), 'weir_journal_pending_entries'), 3);
  assert.equal(sumSamples(samples(), 'weir_journal_unavailable'), 0);
  reasons.push('disk full');
  const shown = samples();
  assert.equal(sumSamples(shown, 'weir_journal_unavailable'), 1);
  assert.equal(sumSamples(shown, 'weir_target_state', { upstream: 'one', state: 'failing' }), 1);
  assert.equal(sumSamples(shown, 'weir_target_state'), 1);
  assert.equal(sumSamples(shown, 'weir_target_calls_in_flight'), 2);
  assert.equal(sumSamples(shown, 'weir_target_consecutive_failures'), 7);
});
