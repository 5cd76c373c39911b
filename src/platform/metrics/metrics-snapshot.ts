/** How the values of several processes are merged. Gauges whose worst value matters use `max`. */
export type MergeRule = 'sum' | 'max';

type MetricType = 'counter' | 'gauge' | 'histogram';

/** A metric without its values. */
export type MetricDescription = {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly labels: readonly string[];
  readonly merge: MergeRule;
  /** Number of decimal digits of the values. Amounts of money are added as integers and stay exact. */
  readonly decimals?: number;
  /** Upper bounds of a histogram's buckets, ascending, without the infinite one. */
  readonly bounds?: readonly number[];
};

/**
 * One line of values. A histogram has a count for each bucket (the infinite one last, not cumulative) and the sum of
 * the values.
 */
export type SeriesSnapshot = {
  /** Values of the labels, in their order. */
  readonly labels: readonly string[];
  readonly value: number;
  readonly counts?: readonly number[];
};

export type MetricSnapshot = MetricDescription & { readonly series: readonly SeriesSnapshot[] };

/** All metrics of one process at one moment: plain JSON, so that it can travel between processes. */
export type MetricsSnapshot = readonly MetricSnapshot[];

function addSeries(first: SeriesSnapshot, second: SeriesSnapshot, rule: MergeRule): SeriesSnapshot {
  const value = rule === 'sum' ? first.value + second.value : Math.max(first.value, second.value);
  if (first.counts === undefined) return { labels: first.labels, value };
  return { labels: first.labels, value, counts: first.counts.map((count, index) => count + (second.counts?.[index] ?? 0)) };
}

function mergeSeries(all: readonly SeriesSnapshot[], rule: MergeRule): readonly SeriesSnapshot[] {
  const merged = new Map<string, SeriesSnapshot>();
  for (const series of all) {
    const key = JSON.stringify(series.labels);
    const known = merged.get(key);
    merged.set(key, known === undefined ? series : addSeries(known, series, rule));
  }
  return [...merged.values()];
}

/** The metrics of several processes as if they were one. Metrics keep the order in which they first appear. */
export function mergeSnapshots(snapshots: readonly MetricsSnapshot[]): MetricsSnapshot {
  const [only] = snapshots;
  if (only !== undefined && snapshots.length === 1) return only;
  const byName = new Map<string, MetricSnapshot[]>();
  for (const metric of snapshots.flat()) {
    const known = byName.get(metric.name);
    if (known === undefined) byName.set(metric.name, [metric]);
    else known.push(metric);
  }
  return [...byName.values()].flatMap((metrics) => {
    const [first] = metrics;
    return first === undefined
      ? []
      : [
          {
            ...first,
            series: mergeSeries(
              metrics.flatMap(({ series }) => series),
              first.merge,
            ),
          },
        ];
  });
}
