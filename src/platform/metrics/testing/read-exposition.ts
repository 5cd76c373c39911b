/** A sample of an exposition. */
export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly text: string;
};

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
const unescape: Readonly<Record<string, string>> = { '\\\\': '\\', '\\"': '"', '\\n': '\n' };

function readLabels(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < text.length) {
    const match = label.exec(text);
    if (match === null) throw new Error(`not valid labels: ${text}`);
    const [, name = '', value = ''] = match;
    if (name in labels) throw new Error(`the label ${name} is there twice: ${text}`);
    labels[name] = value.replaceAll(/\\["\\n]/g, (escaped) => unescape[escaped] ?? '');
  }
  return labels;
}

function readValue(text: string): number {
  if (text === '+Inf') return Infinity;
  const value = Number(text);
  if (Number.isNaN(value)) throw new Error(`${text} is not a number`);
  return value;
}

/** Checks that the buckets of every histogram series rise, and that the last one equals the count. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const series = new Map<string, { bounds: number[]; counts: number[] }>();
  for (const { labels, value } of samples.filter((sample) => sample.name === `${name}_bucket`)) {
    const { le, ...own } = labels;
    const key = JSON.stringify(own);
    const { bounds, counts } = series.get(key) ?? { bounds: [], counts: [] };
    series.set(key, { bounds: [...bounds, readValue(le ?? '')], counts: [...counts, value] });
  }
  const rises = (values: readonly number[]): boolean => values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0));
  for (const [key, { bounds, counts }] of series) {
    const total = samples.find((sample) => sample.name === `${name}_count` && JSON.stringify(sample.labels) === key);
    const sum = samples.find((sample) => sample.name === `${name}_sum` && JSON.stringify(sample.labels) === key);
    if (!rises(bounds) || !rises(counts) || bounds.at(-1) !== Infinity)
      throw new Error(`the buckets of ${name}${key} do not rise to infinity`);
    if (total?.value !== counts.at(-1) || sum === undefined) throw new Error(`${name}${key} lacks its count or sum`);
  }
}

/**
 * Reads the Prometheus text format 0.0.4, more strictly than Prometheus does. Throws if a line is invalid, a series is
 * repeated, or the buckets of a histogram do not add up. Also throws if a metric has no type or help or is in two
 * places, or if a counter is negative or (one of ours) does not end in `_total`.
 */
export function readExposition(text: string): readonly Sample[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end');
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const seen = new Set<string>();
  let current = '';
  for (const line of text.split('\n').slice(0, -1)) {
    const [mark, kind, name = '', ...rest] = line.split(' ');
    if (mark === '#' && kind === 'HELP') {
      if (helped.has(name)) throw new Error(`${name} is there twice`);
      helped.add(name);
      current = name;
    } else if (mark === '#' && kind === 'TYPE') {
      if (name !== current || !['counter', 'gauge', 'histogram'].includes(rest.join(' '))) throw new Error(`a type out of place: ${line}`);
      types.set(name, rest.join(' '));
    } else {
      const match = sampleLine.exec(line);
      if (match === null) throw new Error(`not a sample: ${line}`);
      const [, found = '', labels = '', value = ''] = match;
      const plain = types.get(current) === 'histogram' ? found.replace(/_(?:bucket|sum|count)$/, '') : found;
      if (plain !== current || !types.has(plain)) throw new Error(`a sample out of place: ${line}`);
      const sample = { name: found, labels: readLabels(labels), value: readValue(value), text: value };
      const key = `${found} ${JSON.stringify(sample.labels, Object.keys(sample.labels).toSorted())}`;
      if (seen.has(key)) throw new Error(`a series is there twice: ${line}`);
      seen.add(key);
      if (types.get(current) === 'counter' && !(sample.value >= 0 && found.endsWith('_total'))) throw new Error(`not a counter: ${line}`);
      samples.push(sample);
    }
  }
  for (const [name, type] of types) if (type === 'histogram') checkHistogram(name, samples);
  return samples;
}

/** The sum of a metric's samples whose labels have these values; 0 where there is none. */
export function sumSamples(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  return samples
    .filter((sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
