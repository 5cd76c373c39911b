import { createCallLog, type CallLogLevel } from '../../../gateway/telemetry/call-log.ts';
import { createCallMetrics } from '../../../gateway/telemetry/call-metrics.ts';
import { createCallSpans } from '../../../gateway/telemetry/call-spans.ts';
import { createTelemetry, type Telemetry, type TelemetryOptions } from '../../../gateway/telemetry/telemetry.ts';
import type { CallSettings } from '../../../gateway/settings/call-settings.ts';
import type { RoutingTable } from '../../../gateway/attempts/routing/routing-table.ts';
import { contractModel } from '../../../gateway/endpoints/videos/create/rank-video-targets.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { LogDestination, Logger } from '../../../platform/log.ts';
import { createMetricRegistry, type MetricRegistry } from '../../../platform/metrics/metric-registry.ts';
import type { Environment } from '../../environment.ts';
import { openRefusals, type RefusalParts } from './open-refusals.ts';
import { addProcessMetrics } from './process-metrics.ts';
import type { Tracing } from './read-tracing.ts';
import { SpanExporter } from './span-exporter.ts';

/** The limit for sending the last spans at shutdown. */
const lastSpansMs = 3000;

/** The log level of calls. A failed call is a warning. */
function callLogLevel(level: string): CallLogLevel {
  if (level === 'debug' || level === 'info') return 'info';
  return level === 'warn' ? 'warn' : 'silent';
}

/** Returns whether the gateway lists a model; a reload may change this. */
function createListing(routing: () => RoutingTable): (model: string) => boolean {
  const listings = new WeakMap<RoutingTable, ReadonlySet<string>>();
  return (model) => {
    const table = routing();
    let names = listings.get(table);
    if (names === undefined) {
      names = new Set([contractModel, ...table.models.map(({ id }) => id)]);
      listings.set(table, names);
    }
    return names.has(model);
  };
}

/** Adds metrics about sent and dropped spans. */
export function addSpanMetrics(registry: MetricRegistry, counts: () => { readonly sent: number; readonly dropped: number }): void {
  registry.collected({
    name: 'weir_spans_total',
    help: 'Spans of traces, by whether they were sent or dropped.',
    labels: ['result'],
    type: 'counter',
    read: () => Object.entries(counts()).map(([result, value]) => ({ labels: [result], value })),
  });
}

function openTraces(
  tracing: Tracing,
  isListed: (model: string) => boolean,
  { logger, clock, registry, opened }: { logger: Logger; clock: Clock; registry: MetricRegistry | undefined; opened: AsyncDisposableStack },
): TelemetryOptions['traces'] {
  const exporter = new SpanExporter(tracing, logger, clock.monotonicMs);
  opened.defer(() => exporter.close(lastSpansMs));
  if (registry !== undefined) addSpanMetrics(registry, () => exporter.counts());
  return {
    sampling: tracing.sampling,
    sink: { callsEnded: (calls) => exporter.add(calls.flatMap((call) => createCallSpans(call, isListed))) },
  };
}

/**
 * Creates telemetry as the environment configures it: the log of calls always, metrics with a port, traces with a
 * collector.
 */
export function assembleTelemetry(options: {
  readonly environment: Environment;
  readonly logger: Logger;
  readonly logDestination: LogDestination;
  readonly clock: Clock;
  readonly settings: () => Pick<CallSettings, 'isProxy'> & { readonly routing: RoutingTable };
  readonly store: RefusalParts['store'];
  readonly callers: RefusalParts['callers'];
  readonly opened: AsyncDisposableStack;
}): { readonly telemetry: Telemetry; readonly registry: MetricRegistry | undefined } {
  const { environment, logger, logDestination, clock, settings, opened } = options;
  const { metrics, tracing } = environment;
  const isListed = createListing(() => settings().routing);
  const registry = metrics === undefined ? undefined : createMetricRegistry();
  if (registry !== undefined) opened.defer(addProcessMetrics(registry));
  const level = callLogLevel(environment.logLevel);
  const telemetry = createTelemetry({
    clock,
    logger,
    log:
      level === 'silent'
        ? undefined
        : createCallLog({ write: (lines) => logDestination.write(lines), level, forTerminal: process.stderr.isTTY, clock }),
    metrics: registry === undefined ? undefined : createCallMetrics({ registry, isListed, monotonicMs: clock.monotonicMs }),
    refusals: openRefusals({ ...options, isListed, isProxy: () => settings().isProxy, registry }),
    traces: tracing === undefined ? undefined : openTraces(tracing, isListed, { logger, clock, registry, opened }),
  });
  opened.defer(() => telemetry.flush());
  return { telemetry, registry };
}
