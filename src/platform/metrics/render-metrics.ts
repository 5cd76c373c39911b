import { mergeSnapshots, type MetricSnapshot, type MetricsSnapshot, type SeriesSnapshot } from './metrics-snapshot.ts';

/** The content type of the text of renderMetrics. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');

function writeNumber(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return String(value);
}

/** Writes an integer exactly, with `decimals` digits after the point. */
function writeDecimal(value: number, decimals: number): string {
  const digits = BigInt(Math.round(Math.abs(value)))
    .toString()
    .padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${value < 0 ? '-' : ''}${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** @param extra a further label and its value */
function writeLabels(metric: MetricSnapshot, values: readonly string[], extra?: readonly [string, string]): string {
  const pairs: string[] = [];
  // An empty label means the same as none, and is omitted.
  for (const [index, name] of metric.labels.entries())
    if (values[index] !== '') pairs.push(`${name}="${escapeLabel(values[index] ?? '')}"`);
  if (extra !== undefined) pairs.push(`${extra[0]}="${extra[1]}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function* writeHistogram(metric: MetricSnapshot, series: SeriesSnapshot): Generator<string> {
  const { name, bounds = [] } = metric;
  let total = 0;
  for (const [index, count] of (series.counts ?? []).entries()) {
    total += count;
    yield `${name}_bucket${writeLabels(metric, series.labels, ['le', writeNumber(bounds[index] ?? Infinity)])} ${total}`;
  }
  yield `${name}_sum${writeLabels(metric, series.labels)} ${writeNumber(series.value)}`;
  yield `${name}_count${writeLabels(metric, series.labels)} ${total}`;
}

function* writeMetric(metric: MetricSnapshot): Generator<string> {
  const { name, decimals } = metric;
  yield `# HELP ${name} ${escapeHelp(metric.help)}`;
  yield `# TYPE ${name} ${metric.type}`;
  for (const series of metric.series) {
    if (metric.type === 'histogram') yield* writeHistogram(metric, series);
    else {
      const value = decimals === undefined ? writeNumber(series.value) : writeDecimal(series.value, decimals);
      yield `${name}${writeLabels(metric, series.labels)} ${value}`;
    }
  }
}

/**
 * Writes the metrics of one process, or the merged metrics of several, in the Prometheus text format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). Metrics without any series are left out.
 */
export function renderMetrics(snapshots: readonly MetricsSnapshot[]): string {
  const lines: string[] = [];
  for (const metric of mergeSnapshots(snapshots)) if (metric.series.length > 0) lines.push(...writeMetric(metric));
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
