import type { AlertStore } from './alert-store.ts';
import { type AlertRule, severities, type Severity } from './alert.ts';

/** A present problem. */
export type AttentionItem = {
  readonly code: AlertRule;
  readonly subject: string;
  readonly period: string;
  readonly severity: Severity;
  readonly sinceMs: number;
  readonly summary: string;
  /** The action that ends it. */
  readonly action: string;
};

/**
 * The present problems, the most urgent first and then the newest. They are the open alerts, so that the list and the
 * messages never differ. It is as fresh as the last check of a gateway (`alerts.checkSeconds`).
 * @param limit the most items
 */
export async function listAttention(store: Pick<AlertStore, 'listAlerts'>, limit: number): Promise<readonly AttentionItem[]> {
  const open = await store.listAlerts({ state: 'open', limit: 10_000 });
  return open
    .map(({ rule, subject, period, severity, sinceMs, summary, action }) => ({
      code: rule,
      subject,
      period,
      severity,
      sinceMs,
      summary,
      action,
    }))
    .toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity) || b.sinceMs - a.sinceMs)
    .slice(0, limit);
}
