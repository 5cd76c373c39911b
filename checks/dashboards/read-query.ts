import { parser } from '@prometheus-io/lezer-promql';

import type { MetricDescription } from '../../src/platform/metrics/metrics-snapshot.ts';

type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

/** A condition on a label: `end=~"failed|cut"`. */
export type Matcher = { readonly label: string; readonly operator: string; readonly value: string };

/** A series that a query selects, and the labels by which it is selected, grouped or joined. */
export type Selection = { readonly metric: string; readonly matchers: readonly Matcher[]; readonly labels: readonly string[] };

/** Labels that Prometheus adds to what it scrapes. */
export const scrapeLabels: readonly string[] = ['job', 'instance'];
/** The series that Prometheus itself writes for each target. */
export const ownSeries: readonly string[] = ['up'];

/** Grafana replaces these before it sends a query; Prometheus' grammar does not know them. */
const grafanaDurations = /\$__(?:rate_interval|interval|range)\b/g;

/**
 * Reads a query with Prometheus' own grammar.
 * @returns what it selects. The labels of an aggregation or a join belong to every series below it.
 * @throws Error that names the position of a mistake in the query
 */
export function readQuery(query: string): readonly Selection[] {
  const text = query.replaceAll(grafanaDurations, '5m');
  const tree = parser.parse(text);
  const selections: { readonly metric: string; readonly matchers: readonly Matcher[]; readonly from: number; readonly to: number }[] = [];
  const groupings: { readonly label: string; readonly from: number; readonly to: number }[] = [];
  tree.iterate({
    enter: ({ node, type, from }) => {
      if (type.isError) throw new Error(`the query is not PromQL at "${text.slice(from, from + 20)}": ${query}`);
      if (node.name === 'VectorSelector') selections.push(readSelector(node, text));
      if (node.name === 'GroupingLabels') {
        const over = findOwner(node);
        for (const label of node.getChildren('LabelName')) groupings.push({ label: textOf(label, text), from: over.from, to: over.to });
      }
    },
  });
  return selections.map(({ metric, matchers, from, to }) => {
    const grouped = groupings.filter((grouping) => grouping.from <= from && to <= grouping.to).map(({ label }) => label);
    return { metric, matchers, labels: [...new Set([...matchers.map(({ label }) => label), ...grouped])] };
  });
}

const textOf = ({ from, to }: SyntaxNode, text: string): string => text.slice(from, to);

function readSelector(node: SyntaxNode, text: string) {
  const name = node.getChild('Identifier');
  if (name === null) throw new Error(`a selector has no metric: ${textOf(node, text)}`);
  const matchers = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => {
    const [label, operator, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((part) => {
      const child = matcher.getChild(part);
      return child === null ? '' : textOf(child, text);
    });
    return { label: label ?? '', operator: operator ?? '', value: (value ?? '').slice(1, -1) };
  });
  return { metric: textOf(name, text), matchers, from: node.from, to: node.to };
}

/** The aggregation or the operator to which labels belong. */
function findOwner(labels: SyntaxNode): SyntaxNode {
  for (let node = labels.parent; node !== null; node = node.parent)
    if (node.name === 'AggregateExpr' || node.name === 'BinaryExpr') return node;
  throw new Error('labels of a group are outside of an aggregation');
}

/** The metric of a series: a histogram has three. */
export function findMetric(series: string, table: readonly MetricDescription[]): MetricDescription | undefined {
  const plain = series.replace(/_(?:bucket|sum|count)$/, '');
  return table.find(({ name, type }) => (type === 'histogram' ? name === plain && plain !== series : name === series));
}

/**
 * Checks a query against the metrics that exist.
 * @throws Error that names the unknown metric or label, and what there is
 */
export function checkQuery(query: string, table: readonly MetricDescription[]): string {
  for (const { metric, labels } of readQuery(query)) {
    const found = findMetric(metric, table);
    if (found === undefined && !ownSeries.includes(metric)) throw new Error(`there is no metric ${metric}: ${query}`);
    const known = [...(found?.labels ?? []), ...scrapeLabels, ...(metric.endsWith('_bucket') ? ['le'] : [])];
    const unknown = labels.find((label) => !known.includes(label));
    if (unknown !== undefined) throw new Error(`${metric} has no label ${unknown}, but ${known.join(', ')}: ${query}`);
  }
  return query;
}
