import type { MetricDescription } from '../../src/platform/metrics/metrics-snapshot.ts';
import { checkQuery } from './read-query.ts';

/** A query of a panel, and the name of its lines: text in which Grafana replaces `{{label}}`. */
type Query = { readonly query: string; readonly legend: string };

/** A panel of a dashboard. Its width is in columns, of which a row has 24. */
export type Panel = {
  readonly title: string;
  /** The text behind the "i" of the panel: its meaning, and which values are a problem. */
  readonly about: string;
  readonly unit: 'short' | 'reqps' | 's' | 'currencyUSD' | 'percentunit' | 'bytes' | 'cps';
  readonly queries: readonly Query[];
  readonly width: number;
  /** `number`: the last value; `lines`: its course; `stack`: lines one above the other; `bars`: the present values. */
  readonly kind?: 'number' | 'lines' | 'stack' | 'bars';
  /** Values from which a number is yellow, and red. */
  readonly warnAt?: readonly [yellow: number, red: number];
  /** Number of digits after the point. */
  readonly decimals?: number;
};

export type Row = { readonly title: string; readonly panels: readonly Panel[] };

export type Dashboard = { readonly uid: string; readonly title: string; readonly about: string; readonly rows: readonly Row[] };

const source = { type: 'prometheus', uid: '${datasource}' };
const heights = { number: 4, lines: 8, stack: 8, bars: 8 };
const columns = 24;

/** The selectors at the top of each dashboard. */
const variables = [
  { name: 'job', label: 'Job', query: 'label_values(weir_build_info, job)' },
  { name: 'instance', label: 'Gateway', query: 'label_values(weir_build_info{job=~"$job"}, instance)' },
  { name: 'upstream', label: 'Upstream', query: 'label_values(weir_attempts_total{job=~"$job"}, upstream)' },
  { name: 'model', label: 'Model', query: 'label_values(weir_calls_total{job=~"$job"}, model)' },
];

/**
 * Writes a dashboard in Grafana's JSON model.
 * @throws Error if a query is not PromQL, or names a metric or a label that does not exist
 */
export function writeDashboard(dashboard: Dashboard, table: readonly MetricDescription[]): string {
  const { uid, title, about, rows } = dashboard;
  for (const { query } of variables) checkQuery(/\((.*), \w+\)/.exec(query)?.[1] ?? '', table);
  const model = {
    uid,
    title,
    description: about,
    tags: ['weir'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    links: [{ type: 'dashboards', title: 'Weir', tags: ['weir'], asDropdown: false, includeVars: true, keepTime: true }],
    templating: { list: [datasourceVariable, ...variables.map(writeVariable)] },
    annotations: {
      list: [
        {
          name: 'Starts',
          datasource: source,
          enable: true,
          iconColor: 'blue',
          expr: checkQuery('changes(process_start_time_seconds{job=~"$job",instance=~"$instance"}[1m]) > 0', table),
          step: '60s',
          titleFormat: 'A gateway started',
          textFormat: '{{instance}}',
        },
      ],
    },
    panels: placePanels(rows, table),
  };
  return `${JSON.stringify(model, undefined, 2)}\n`;
}

const datasourceVariable = { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {}, hide: 0 };

function writeVariable({ name, label, query }: (typeof variables)[number]): object {
  return {
    name,
    label,
    type: 'query',
    datasource: source,
    definition: query,
    query: { qryType: 1, query, refId: name },
    refresh: 2,
    includeAll: true,
    allValue: '.*',
    multi: true,
    sort: 1,
    current: { text: ['All'], value: ['$__all'] },
  };
}

function placePanels(rows: readonly Row[], table: readonly MetricDescription[]): readonly object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    placed.push({ id: placed.length + 1, type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: columns, h: 1 }, panels: [] });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of panels) {
      if (x + panel.width > columns) {
        y += height;
        x = 0;
        height = 0;
      }
      const h = heights[panel.kind ?? 'lines'];
      placed.push(writePanel(panel, { id: placed.length + 1, gridPos: { x, y, w: panel.width, h } }, table));
      x += panel.width;
      height = Math.max(height, h);
    }
    y += height;
  }
  return placed;
}

const types = { number: 'stat', lines: 'timeseries', stack: 'timeseries', bars: 'bargauge' };

function writePanel(panel: Panel, place: object, table: readonly MetricDescription[]): object {
  const { title, about, unit, queries, kind = 'lines', warnAt, decimals } = panel;
  const isChart = kind === 'lines' || kind === 'stack';
  return {
    ...place,
    type: types[kind],
    title,
    description: about,
    datasource: source,
    targets: queries.map(({ query, legend }, index) => ({
      refId: String.fromCodePoint(65 + index),
      datasource: source,
      expr: checkQuery(query, table),
      legendFormat: legend,
      ...(isChart ? { range: true } : { instant: true, range: false }),
    })),
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        ...(decimals === undefined ? {} : { decimals }),
        color: { mode: isChart ? 'palette-classic' : 'thresholds' },
        thresholds: { mode: 'absolute', steps: writeSteps(warnAt) },
        custom: isChart ? chartStyle(kind) : {},
      },
      overrides: [],
    },
    options: optionsOf(kind),
  };
}

const writeSteps = (warnAt: Panel['warnAt']): readonly object[] => [
  { color: 'green', value: null },
  ...(warnAt === undefined
    ? []
    : [
        { color: 'yellow', value: warnAt[0] },
        { color: 'red', value: warnAt[1] },
      ]),
];

function chartStyle(kind: 'lines' | 'stack'): object {
  return {
    drawStyle: 'line',
    lineWidth: 1,
    fillOpacity: kind === 'stack' ? 40 : 8,
    showPoints: 'never',
    spanNulls: false,
    stacking: { mode: kind === 'stack' ? 'normal' : 'none', group: 'A' },
  };
}

function optionsOf(kind: keyof typeof types): object {
  const reduceOptions = { calcs: ['lastNotNull'], fields: '', values: false };
  if (kind === 'number') return { reduceOptions, colorMode: 'value', graphMode: 'none', textMode: 'auto' };
  if (kind === 'bars') return { reduceOptions, displayMode: 'basic', orientation: 'horizontal', showUnfilled: true };
  return {
    legend: { displayMode: 'table', placement: 'right', calcs: ['mean', 'max', 'lastNotNull'], showLegend: true },
    tooltip: { mode: 'multi', sort: 'desc' },
  };
}
