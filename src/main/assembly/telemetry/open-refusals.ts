import { createRefusalWriter } from '../../../audit/refusals/refusal-writer.ts';
import type { RefusalStore } from '../../../audit/refusals/refusal.ts';
import { type CallerDirectory, findKnownCaller } from '../../../gateway/admission/authenticate.ts';
import { readRequestTarget } from '../../../gateway/admission/read-request.ts';
import type { CallSink } from '../../../gateway/telemetry/call-report.ts';
import { createRefusalSink } from '../../../gateway/telemetry/refusal-sink.ts';
import type { Clock } from '../../../platform/clock.ts';
import { clientAddress, type ProxyTest } from '../../../platform/http/client-address.ts';
import type { Logger } from '../../../platform/log.ts';
import type { MetricRegistry } from '../../../platform/metrics/metric-registry.ts';

export type RefusalParts = {
  readonly store: Pick<RefusalStore, 'addRefusals' | 'sweepRefusals'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly isProxy: () => ProxyTest | undefined;
  readonly callers: () => Pick<CallerDirectory, 'find'>;
  readonly isListed: (model: string) => boolean;
  readonly registry: MetricRegistry | undefined;
  readonly opened: AsyncDisposableStack;
};

/** Adds the metric of refusals that are not in the log. */
export function addRefusalMetrics(registry: MetricRegistry, dropped: () => number): void {
  registry.collected({
    name: 'weir_refusals_dropped_total',
    help: 'Refused requests that are not in the refusal log, because they were too many or the store did not answer.',
    labels: [],
    type: 'counter',
    read: () => [{ labels: [], value: dropped() }],
  });
}

/** Opens the refusal log, which is written after the last calls were reported. */
export function openRefusals({ store, clock, logger, isListed, isProxy, callers, registry, opened }: RefusalParts): CallSink {
  const writer = opened.adopt(createRefusalWriter({ store, clock, logger }), (log) => log.close());
  if (registry !== undefined) addRefusalMetrics(registry, writer.dropped);
  return createRefusalSink({
    writer,
    clock,
    isListed,
    addressOf: (request) => clientAddress(request, isProxy()),
    callerOf: (request) => findKnownCaller(request, readRequestTarget(request.url ?? '/')?.queryKeys ?? [], callers()),
  });
}
