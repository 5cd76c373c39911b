import { creditsOf } from '../../../billing/rating/format-credits.ts';
import type { CreditUnit } from '../../../billing/rating/rating.ts';
import type { BillingRecord } from '../../../billing/statistics/billing-record.ts';
import { usdDecimal } from '../../../billing/statistics/usd-decimal.ts';
import { type Terminal, bar, bold, cutTo, displayWidth, inert, padTo } from './terminal-text.ts';

/** The totals of one line. */
type Sums = { calls: number; input: number; output: number; cached: number; nanoUsd: bigint };

/** A model whose calls cost nothing because it has no price. */
export type UnpricedCount = { readonly model: string; readonly calls: number };

export type Usage = {
  readonly records: readonly BillingRecord[];
  /** The start of each bucket of the span. Buckets without calls are shown empty. */
  readonly buckets: readonly string[];
  /** Span, time zone and filters. */
  readonly title: string;
  /** A unit of the operator in which cost is shown beside USD. */
  readonly unit?: CreditUnit | undefined;
  /** Models whose calls cost nothing because they have no price. */
  readonly unpriced?: readonly UnpricedCount[];
};

/** Groups that are shown one by one. Of the others, only their number is shown. */
const GROUPS_MAX = 20;
const NAME_MIN = 6;
const BAR_MIN = 8;
const BAR_MAX = 40;

/** Usage as lines for a terminal: a bar chart by bucket, and a table by user, key and model. */
export function renderUsage(usage: Usage, terminal: Terminal): string {
  const { records, buckets, title, unit, unpriced = [] } = usage;
  const total = createSums();
  const byBucket = new Map(buckets.map((time) => [time, createSums()]));
  const byGroup = new Map<string, { readonly names: readonly string[]; readonly sums: Sums }>();
  for (const record of records) {
    add(total, record);
    add(byBucket.getOrInsertComputed(record.time, createSums), record);
    const names = [record.userName, record.tokenName, record.modelName];
    add(byGroup.getOrInsertComputed(names.join('\0'), () => ({ names, sums: createSums() })).sums, record);
  }
  if (records.length === 0) return `${bold(title, terminal)}\nno calls\n`;
  const groups = [...byGroup.values()].toSorted((left, right) => compareCost(right.sums, left.sums));
  return [
    bold(title, terminal),
    '',
    ...renderBuckets(byBucket, total, terminal, unit),
    '',
    ...renderGroups(groups.slice(0, GROUPS_MAX), terminal, unit),
    ...(groups.length > GROUPS_MAX ? [`… and ${groups.length - GROUPS_MAX} more; --json and --csv have all`] : []),
    ...renderUnpriced(unpriced),
    '',
  ].join('\n');
}

const UNPRICED_MAX = 5;

/** Names the models without a price, so that their costs of 0 are not mistaken for free calls. */
function renderUnpriced(models: readonly UnpricedCount[]): readonly string[] {
  if (models.length === 0) return [];
  const calls = models.reduce((sum, each) => sum + each.calls, 0);
  const named = models.slice(0, UNPRICED_MAX).map(({ model }) => inert(model));
  const more = models.length > UNPRICED_MAX ? `, and ${models.length - UNPRICED_MAX} more` : '';
  return [
    '',
    `no price, so charged 0: ${groupDigits(calls)} ${calls === 1 ? 'call' : 'calls'} to ${named.join(', ')}${more}; weir usage --unpriced lists them`,
  ];
}

function renderBuckets(byBucket: ReadonlyMap<string, Sums>, total: Sums, terminal: Terminal, unit: Usage['unit']): readonly string[] {
  const header = ['TIME', ...sumTitles(unit)];
  const rows = [...byBucket].map(([time, sums]) => [time, ...sumCells(sums, unit)]);
  const totals = ['TOTAL', ...sumCells(total, unit)];
  const widths = columnWidths([header, ...rows, totals]);
  const room = terminal.columns - widths.reduce((sum, width) => sum + width + 2, 0);
  const barWidth = room >= BAR_MIN ? Math.min(room, BAR_MAX) : 0;
  // Bars show the cost or, if no call has a cost, the number of calls.
  const measure = (sums: Sums): number => (total.nanoUsd > 0n ? Math.max(0, Number(sums.nanoUsd)) : sums.calls);
  const most = Math.max(...[...byBucket.values()].map(measure));
  const lines = [...byBucket.values()].map((sums, index) => {
    const drawn = bar(most === 0 ? 0 : measure(sums) / most, barWidth, terminal);
    return `${layOut(rows[index] ?? [], widths, 1)}  ${drawn}`.trimEnd();
  });
  return [bold(layOut(header, widths, 1).trimEnd(), terminal), ...lines, bold(layOut(totals, widths, 1).trimEnd(), terminal)];
}

function renderGroups(
  groups: readonly { readonly names: readonly string[]; readonly sums: Sums }[],
  terminal: Terminal,
  unit: Usage['unit'],
): readonly string[] {
  const header = ['USER', 'KEY', 'MODEL', ...sumTitles(unit)];
  const numbers = groups.map(({ sums }) => sumCells(sums, unit));
  const numberWidths = columnWidths([sumTitles(unit), ...numbers]);
  const left = terminal.columns - numberWidths.reduce((sum, width) => sum + width + 2, 0);
  const shown = groups.map(({ names }) => names.map(inert));
  // Two spaces separate the names.
  const nameWidths = shareRoom(columnWidths([header.slice(0, 3), ...shown]), left - 4);
  const rows = shown.map((names, index) => [
    ...names.map((name, column) => cutTo(name, nameWidths[column] ?? 0)),
    ...(numbers[index] ?? []),
  ]);
  const widths = columnWidths([header, ...rows]);
  return [bold(layOut(header, widths, 3).trimEnd(), terminal), ...rows.map((row) => layOut(row, widths, 3).trimEnd())];
}

function sumTitles(unit: Usage['unit']): readonly string[] {
  return ['CALLS', 'INPUT', 'OUTPUT', 'CACHED', 'COST USD', ...(unit === undefined ? [] : [inert(unit.name).toUpperCase()])];
}

function sumCells(sums: Sums, unit: Usage['unit']): readonly string[] {
  const counts = [sums.calls, sums.input, sums.output, sums.cached].map(groupDigits);
  return [...counts, formatCost(sums.nanoUsd), ...(unit === undefined ? [] : [creditsOf(sums.nanoUsd, unit)])];
}

function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Two decimals from 1,000 USD on, otherwise six. */
function formatCost(nanoUsd: bigint): string {
  const [whole = '0', fraction = ''] = usdDecimal(nanoUsd).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const isLarge = nanoUsd >= 1_000_000_000_000n;
  return `${grouped}.${(isLarge ? fraction.slice(0, 2) : fraction.slice(0, 6)).padEnd(isLarge ? 2 : 6, '0')}`;
}

function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const [first = []] = rows;
  return first.map((_, column) => Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))));
}

/** Reduces the widest columns until all fit into the room, but none below `NAME_MIN`. */
function shareRoom(full: readonly number[], room: number): readonly number[] {
  const widths = [...full];
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  for (; excess > 0; excess -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= NAME_MIN) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** The first `texts` columns are aligned left; the others are numbers, and are aligned right. */
function layOut(row: readonly string[], widths: readonly number[], texts: number): string {
  return row.map((cell, column) => padTo(cell, widths[column] ?? 0, column < texts ? 'right' : 'left')).join('  ');
}

function createSums(): Sums {
  return { calls: 0, input: 0, output: 0, cached: 0, nanoUsd: 0n };
}

function add(sums: Sums, record: BillingRecord): void {
  sums.calls += record.callCount;
  sums.input += record.totalPromptTokens;
  sums.output += record.totalCompletionTokens;
  sums.cached += record.totalCacheTokens;
  sums.nanoUsd += nanoUsdOf(record.totalAmount.rawJSON);
}

/** The inverse of usdDecimal. */
function nanoUsdOf(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(9, '0'));
}

function compareCost(left: Sums, right: Sums): number {
  if (left.nanoUsd !== right.nanoUsd) return left.nanoUsd < right.nanoUsd ? -1 : 1;
  return left.calls - right.calls;
}
