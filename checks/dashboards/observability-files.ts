import { writeAlertRules } from './alert-rules.ts';
import { callDashboard } from './call-dashboard.ts';
import { writeDashboard } from './dashboard.ts';
import { gatewayDashboard } from './gateway-dashboard.ts';
import { readMetricTable } from './metric-table.ts';
import { spendDashboard } from './spend-dashboard.ts';

/** In the order of their menu. */
export const dashboards = [callDashboard, spendDashboard, gatewayDashboard];

/** The files for Grafana and Prometheus: path from the root, and content. */
export function writeObservabilityFiles(): Readonly<Record<string, string>> {
  const table = readMetricTable();
  return {
    'deploy/prometheus/alerts.yaml': writeAlertRules(table),
    ...Object.fromEntries(
      dashboards.map((dashboard) => [`deploy/grafana/dashboards/${dashboard.uid}.json`, writeDashboard(dashboard, table)]),
    ),
  };
}
