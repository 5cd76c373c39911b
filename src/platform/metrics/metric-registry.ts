import type { MergeRule, MetricDescription, MetricsSnapshot, SeriesSnapshot } from './metrics-snapshot.ts';

/** One series of a counter or gauge. Keep a reference, because finding it again costs more than counting. */
export type Counter = {
  readonly add: (amount: number) => void;
};

/** One series of a histogram. */
export type Histogram = {
  /** Counts a value in its bucket. NaN is ignored. */
  readonly observe: (value: number) => void;
};

/** The current value of a gauge, with the values of its labels. */
export type GaugeSample = { readonly labels: readonly string[]; readonly value: number };

type MetricOptions = { readonly name: string; readonly help: string; readonly labels?: readonly string[] };

/** A metric and its series, found by the values of their labels in the order of the names. */
export type Family<Series> = { readonly with: (...labels: readonly string[]) => Series };

/**
 * The metrics of a process. Each metric has at most `seriesMax` series. Values of further series are counted in one
 * series with `other` in every label, so that clients cannot fill the memory, or the scraper's disk, with invented
 * names.
 */
export type MetricRegistry = {
  readonly counter: (options: MetricOptions & { readonly decimals?: number }) => Family<Counter>;
  readonly histogram: (options: MetricOptions & { readonly bounds: readonly number[] }) => Family<Histogram>;
  /** A metric whose values are read at each scrape. Samples beyond the bound are omitted. */
  readonly collected: (
    options: MetricOptions & {
      readonly type: 'counter' | 'gauge';
      readonly merge?: MergeRule;
      readonly read: () => readonly GaugeSample[];
    },
  ) => void;
  readonly snapshot: () => MetricsSnapshot;
};

/** The value of every label of the overflow series. */
const overflowLabel = 'other';
const defaultSeriesMax = 1000;

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

type Metric = { readonly description: MetricDescription; readonly series: () => readonly SeriesSnapshot[] };

class CounterSeries implements Counter {
  value = 0;

  add(amount: number): void {
    this.value += amount;
  }
}

class HistogramSeries implements Histogram {
  readonly #bounds: Float64Array;
  /** One count for each bucket, and one for the infinite bucket. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: Float64Array) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    if (Number.isNaN(value)) return;
    const bounds = this.#bounds;
    let bucket = 0;
    // A dozen comparisons are faster than a binary search.
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

const keyOf = (labels: readonly string[]): string => labels.join('\u0000');

class SeriesTable<Series> {
  readonly #labels: readonly string[];
  readonly #seriesMax: number;
  readonly #create: () => Series;
  readonly #byKey = new Map<string, { readonly labels: readonly string[]; readonly series: Series }>();

  constructor(labels: readonly string[], seriesMax: number, create: () => Series) {
    this.#labels = labels;
    this.#seriesMax = seriesMax;
    this.#create = create;
  }

  with(...labels: readonly string[]): Series {
    if (labels.length !== this.#labels.length) throw new Error(`this metric has the labels ${this.#labels.join(', ')}`);
    const known = this.#byKey.get(keyOf(labels));
    if (known !== undefined) return known.series;
    if (this.#byKey.size < this.#seriesMax) return this.#add(labels);
    const overflow = this.#labels.map(() => overflowLabel);
    return this.#byKey.get(keyOf(overflow))?.series ?? this.#add(overflow);
  }

  #add(labels: readonly string[]): Series {
    const series = this.#create();
    this.#byKey.set(keyOf(labels), { labels, series });
    return series;
  }

  map(read: (labels: readonly string[], series: Series) => SeriesSnapshot): readonly SeriesSnapshot[] {
    return [...this.#byKey.values()].map(({ labels, series }) => read(labels, series));
  }
}

/** @param options.seriesMax number of series of each metric, without the overflow series */
export function createMetricRegistry(options: { readonly seriesMax?: number } = {}): MetricRegistry {
  const seriesMax = options.seriesMax ?? defaultSeriesMax;
  const metrics = new Map<string, Metric>();
  const register = (description: MetricDescription, series: Metric['series']): void => {
    const { name, labels } = description;
    if (!metricName.test(name) || !labels.every((label) => labelName.test(label)))
      throw new Error(`${name} or one of its labels is not a valid name`);
    if (metrics.has(name)) throw new Error(`a metric with the name ${name} exists already`);
    metrics.set(name, { description, series });
  };
  return {
    counter: ({ name, help, labels = [], decimals }) => {
      const table = new SeriesTable(labels, seriesMax, () => new CounterSeries());
      register({ name, help, labels, type: 'counter', merge: 'sum', ...(decimals === undefined ? {} : { decimals }) }, () =>
        table.map((values, { value }) => ({ labels: values, value })),
      );
      return table;
    },
    histogram: ({ name, help, labels = [], bounds }) => {
      const ascending = Float64Array.from(bounds);
      const table = new SeriesTable(labels, seriesMax, () => new HistogramSeries(ascending));
      register({ name, help, labels, type: 'histogram', merge: 'sum', bounds }, () =>
        table.map((values, { sum, counts }) => ({ labels: values, value: sum, counts: [...counts] })),
      );
      return table;
    },
    collected: ({ name, help, labels = [], type, merge = 'sum', read }) => {
      register({ name, help, labels, type, merge }, () => read().slice(0, seriesMax));
    },
    snapshot: () => [...metrics.values()].map(({ description, series }) => ({ ...description, series: series() })),
  };
}
