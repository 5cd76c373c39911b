import { idleGate } from '../../src/gateway/admission/overload/gatekeeper.ts';
import { addGatewayGauges } from '../../src/gateway/server/gateway-gauges.ts';
import { createMetricFamilies } from '../../src/gateway/telemetry/metric-families.ts';
import { addAlertMetrics } from '../../src/main/assembly/alerts/open-alerts.ts';
import { addCredentialMetrics } from '../../src/main/assembly/telemetry/credential-metrics.ts';
import { addSpanMetrics } from '../../src/main/assembly/telemetry/assemble-telemetry.ts';
import { addRefusalMetrics } from '../../src/main/assembly/telemetry/open-refusals.ts';
import { addProcessMetrics } from '../../src/main/assembly/telemetry/process-metrics.ts';
import { createMetricRegistry } from '../../src/platform/metrics/metric-registry.ts';
import type { MetricDescription } from '../../src/platform/metrics/metrics-snapshot.ts';

const idleVideos = { open: 0, alerted: 0, latenessMs: 0, polling: 0, copying: 0, copiesWaiting: 0 };

/** Every metric that a gateway can have, from the code that declares them. */
export function readMetricTable(): readonly MetricDescription[] {
  const registry = createMetricRegistry();
  createMetricFamilies(registry, { calls: () => 0, streams: () => 0 });
  addGatewayGauges(registry, {
    journal: { pendingEntries: () => 0, unavailableReason: () => undefined },
    health: { report: () => [] },
    gatekeeper: { state: () => idleGate },
    videos: { gauges: () => idleVideos },
  });
  addCredentialMetrics(
    registry,
    () => [],
    () => 0,
  );
  addRefusalMetrics(registry, () => 0);
  addSpanMetrics(registry, () => ({ sent: 0, dropped: 0 }));
  addAlertMetrics(
    registry,
    () => new Map(),
    () => ({ delivered: 0, failed: 0, givenUp: 0 }),
  );
  addProcessMetrics(registry)();
  return registry.snapshot();
}
