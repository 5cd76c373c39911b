import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { CallEntry } from '../src/billing/ledger/call-entry.ts';
import { createCallLog } from '../src/gateway/telemetry/call-log.ts';
import { createCallMetrics } from '../src/gateway/telemetry/call-metrics.ts';
import { createTelemetry, type Telemetry } from '../src/gateway/telemetry/telemetry.ts';
import type { CallSink } from '../src/gateway/telemetry/call-report.ts';
import { systemClock } from '../src/platform/clock.ts';
import { silentLogger } from '../src/platform/log.ts';
import { createMetricRegistry } from '../src/platform/metrics/metric-registry.ts';

/** The cost of reporting calls: `node bench/telemetry.ts`. */

const calls = 200_000;
const eventsPerCall = 100;

const entry: CallEntry = {
  callId: 'req_01jd8abcdefghijkmnpqrstvwx',
  acceptedAtMs: 1_700_000_000_000,
  userName: 'alice',
  keyId: 'key_1',
  keyName: 'laptop',
  dialect: 'openai-chat',
  requestedModel: 'gpt-4.1',
  upstream: 'openai',
  vendor: 'openai',
  upstreamModel: 'gpt-4.1-2025-04-14',
  stream: true,
  inputCharacters: 2000,
  priceVersion: '1',
  end: 'finished',
  upstreamStatus: 200,
  upstreamRequestId: 'req_abcdefghijklmnop',
  servedModel: 'gpt-4.1-2025-04-14',
  stopReason: 'stop',
  usage: { inputTokens: 500, cacheReadTokens: 1000, outputTokens: 300, reasoningTokens: 100 },
  estimated: false,
  durationMs: 2300,
  firstByteMs: 310,
  charge: { amountNanoUsd: 1_234_500n, lines: [] },
};

class Response extends EventEmitter {
  readonly headersSent = true;
  readonly statusCode = 200;
  readonly destroyed = false;
}

const request = { headers: { 'user-agent': 'OpenAI/JS 6.0' } } as unknown as IncomingMessage;
const upstreamRequest = { path: '/', method: 'POST', headers: {}, body: undefined } as const;

/** One call as the gateway makes it. The response and its event exist in any case. */
function tell(telemetry: Telemetry): void {
  const response = new Response();
  const report = telemetry.begin({
    callId: entry.callId,
    dialect: 'openai-chat',
    operation: 'generate',
    request,
    response: response as unknown as ServerResponse,
  });
  report.caller = { id: 'key_1', userName: 'alice', name: 'laptop' };
  report.facts = entry;
  report.exchanging();
  telemetry.chunkGaps(entry);
  telemetry.attempt(report, upstreamRequest);
  report.settled(entry, undefined);
  response.emit('close');
}

function measure(name: string, sinks: { readonly log?: CallSink; readonly withMetrics?: boolean }): void {
  const registry = createMetricRegistry();
  const telemetry = createTelemetry({
    clock: systemClock,
    logger: silentLogger,
    log: sinks.log,
    metrics:
      sinks.withMetrics === true
        ? createCallMetrics({ registry, isListed: (model) => model === entry.requestedModel, monotonicMs: systemClock.monotonicMs })
        : undefined,
  });
  let perCallNs = 0;
  for (let round = 0; round < 3; round++) {
    const started = process.cpuUsage();
    for (let call = 0; call < calls; call++) {
      tell(telemetry);
      // This many calls end in one turn of the event loop under load.
      if (call % 16 === 15) telemetry.flush();
    }
    const { user, system } = process.cpuUsage(started);
    perCallNs = ((user + system) / calls) * 1000;
  }
  console.log(`${name.padEnd(34)} ${(perCallNs / 1000).toFixed(2)} us of CPU per call`);
}

function measureEvents(): void {
  const metrics = createCallMetrics({ registry: createMetricRegistry(), isListed: () => true, monotonicMs: systemClock.monotonicMs });
  const gaps = metrics.chunkGaps(entry);
  const pieces = calls * eventsPerCall;
  let nsPerPiece = 0;
  for (let round = 0; round < 3; round++) {
    const started = process.cpuUsage();
    for (let piece = 0; piece < pieces; piece++) gaps.observe((piece % 200) / 1000);
    nsPerPiece = (process.cpuUsage(started).user / pieces) * 1000;
  }
  console.log(`${'a piece of a stream'.padEnd(34)} ${nsPerPiece.toFixed(0)} ns of CPU`);
}

let written = 0;
const log = createCallLog({ write: (lines) => (written += lines.length), level: 'info', forTerminal: false, clock: systemClock });
measure('following a call without a report', {});
measure('with metrics', { withMetrics: true });
measure('with the log', { log });
measure('with both', { log, withMetrics: true });
measureEvents();
console.log(`a line has ${Math.round(written / (calls * 6))} bytes`);
