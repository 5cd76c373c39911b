import { findMetric, type Matcher, ownSeries, readQuery, scrapeLabels } from '../../checks/dashboards/read-query.ts';
import { readMetricTable } from '../../checks/dashboards/metric-table.ts';
import type { Sample } from '../../src/platform/metrics/testing/read-exposition.ts';

/** Whether a sample has a label value that a selector of Prometheus demands; Grafana's variables demand nothing. */
function meets(sample: Sample, { label, operator, value }: Matcher): boolean {
  if (scrapeLabels.includes(label) || value.startsWith('$')) return true;
  const own = sample.labels[label] ?? '';
  const isEqual = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(own) : own === value;
  return operator.startsWith('!') ? !isEqual : isEqual;
}

/**
 * Compares queries with a scrape of a gateway.
 * @returns selectors that select nothing, and labels that no sample of a selected metric has
 */
export function findMissingSeries(queries: readonly string[], samples: readonly Sample[]): readonly string[] {
  const table = readMetricTable();
  const missing = queries.flatMap(readQuery).flatMap(({ metric, matchers, labels }) => {
    if (ownSeries.includes(metric)) return [];
    const own = samples.filter(({ name }) => name === metric);
    if (own.length === 0) return [findMetric(metric, table)?.name ?? metric];
    const unknown = labels.filter((label) => !scrapeLabels.includes(label) && own.every((sample) => sample.labels[label] === undefined));
    const fixed = matchers.filter(({ label, value }) => !scrapeLabels.includes(label) && !value.startsWith('$'));
    const selects = own.some((sample) => matchers.every((matcher) => meets(sample, matcher)));
    const shown = fixed.map(({ label, operator, value }) => `${label}${operator}${value}`).join(',');
    return [...unknown.map((label) => `${metric}: ${label}`), ...(selects ? [] : [`${metric}{${shown}}`])];
  });
  return [...new Set(missing)].toSorted();
}
