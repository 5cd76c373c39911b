import type { AlertRule } from '../../../alerts/alert.ts';
import { alertRuleCodes } from '../../../alerts/alert.ts';
import { createBudgetCondition } from '../../../alerts/conditions/find-budgets.ts';
import { createExpiryCondition } from '../../../alerts/conditions/find-expiring.ts';
import { createUnpricedCondition } from '../../../alerts/conditions/find-unpriced.ts';
import { createUsageCondition } from '../../../alerts/conditions/find-usage.ts';
import type { Condition } from '../../../alerts/conditions/condition.ts';
import { createAlertWatch } from '../../../alerts/create-alert-watch.ts';
import { createNoticeSender, type NoticeCounts } from '../../../alerts/notices/create-notice-sender.ts';
import { createNotices } from '../../../alerts/notices/notice-content.ts';
import type { RefusalWatch } from '../../../alerts/watch-refusals.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import type { MetricRegistry } from '../../../platform/metrics/metric-registry.ts';
import type { Store } from '../../../store/store.ts';
import { type AlertSettings, buildAlertSettings } from '../../config/alert-settings.ts';
import type { Config } from '../../config/config-schema.ts';
import type { Environment } from '../../environment.ts';
import { createAlertTransports } from './alert-transports.ts';
import { observeGateway, type ObservedParts } from './observe-gateway.ts';

export type AlertParts = Omit<ObservedParts, 'diskFreePercent' | 'dataDirectory' | 'secrets' | 'nowMs'> & {
  readonly environment: Pick<Environment, 'dataDirectory' | 'proxies' | 'secrets'>;
  readonly store: Store;
  readonly refusals: Pick<RefusalWatch, 'since'>;
  readonly config: () => Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: MetricRegistry | undefined;
};

/** Begins to search for problems, and to send the messages about them. `opened` ends both. */
export function openAlerts(parts: AlertParts, opened: AsyncDisposableStack): void {
  const { environment, store, refusals, config, clock, logger, registry, nodeId } = parts;
  const settings = keepSettings(config);
  const watch = createAlertWatch({
    store,
    nodeId,
    clock,
    logger,
    conditions: listConditions(store, settings),
    observe: async (open) => [
      ...refusals.since(clock.nowMs() - 2 * settings().checkMs),
      ...(await observeGateway(
        {
          ...parts,
          dataDirectory: environment.dataDirectory,
          secrets: environment.secrets,
          nowMs: clock.nowMs,
          diskFreePercent: () => settings().diskFreePercent,
        },
        open,
      )),
    ],
    announce: (change) => createNotices(change, filtersOf(settings()), clock.nowMs()),
    isOff: (rule) => settings().isOff(rule),
    everyMs: () => settings().checkMs,
  });
  const sender = createNoticeSender({
    store,
    channels: () => settings().channels,
    transports: createAlertTransports(environment.proxies),
    clock,
    logger,
    random: Math.random,
  });
  watch.start();
  sender.start();
  opened.defer(async () => {
    await watch.close();
    await sender.close();
  });
  if (registry !== undefined) addAlertMetrics(registry, watch.openByRule, sender.counts);
}

/** The settings of the configuration in force, computed once for each. */
function keepSettings(config: () => Config): () => AlertSettings {
  const kept = new WeakMap<Config, AlertSettings>();
  return () => kept.getOrInsertComputed(config(), buildAlertSettings);
}

function filtersOf({ channels }: AlertSettings): Parameters<typeof createNotices>[1] {
  return Object.fromEntries(Object.entries(channels).map(([name, { filter }]) => [name, filter]));
}

function listConditions(store: Store, settings: () => AlertSettings): readonly Condition[] {
  const thresholds = () => settings().thresholds;
  return [
    createBudgetCondition(store, thresholds),
    createUsageCondition(store, thresholds),
    createExpiryCondition(store, thresholds),
    createUnpricedCondition(store),
  ];
}

/** Adds metrics about open alerts and their messages. */
export function addAlertMetrics(
  registry: MetricRegistry,
  openByRule: () => ReadonlyMap<AlertRule, number>,
  counts: () => NoticeCounts,
): void {
  registry.collected({
    name: 'weir_alerts_open',
    help: 'Open alerts by rule, as this process last read them. All gateways of a database have the same.',
    labels: ['rule'],
    type: 'gauge',
    merge: 'max',
    read: () => alertRuleCodes.map((rule) => ({ labels: [rule], value: openByRule().get(rule) ?? 0 })),
  });
  registry.collected({
    name: 'weir_alert_messages_total',
    help: 'Attempts to send messages about alerts: delivered, failed, and abandoned messages.',
    labels: ['result'],
    type: 'counter',
    read: () => {
      const { delivered, failed, givenUp } = counts();
      return [
        { labels: ['delivered'], value: delivered },
        { labels: ['failed'], value: failed },
        { labels: ['abandoned'], value: givenUp },
      ];
    },
  });
}
