import { parseJson } from '../../platform/json/parse-json.ts';
import { add } from '../rating/fraction.ts';
import type { VendorCost, VendorCosts } from './vendor-costs.ts';
import { dayIn, ExportError, startOfDay, type UsageClass, usageClasses, type VendorUsage, type VendorUsageRow } from './vendor-usage.ts';

/** An export that was read: its usage, or its costs. */
export type VendorAccount =
  | { readonly kind: 'usage'; readonly usage: VendorUsage }
  | { readonly kind: 'costs'; readonly costs: VendorCosts };

/** The most rows of an account that is kept: models times days, or models times days times items. */
const accountRowsMax = 20_000;

type Span = Pick<VendorUsage, 'startMs' | 'endMs'>;

/**
 * The times of an account between two of the vendor's days.
 * @throws ExportError if nothing is left, or for a wrong day
 */
export function limitSpan(
  theirs: Span & Pick<VendorUsage, 'timeZone'>,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): Span {
  const startMs = from === undefined ? theirs.startMs : Math.max(theirs.startMs, startOfDay(theirs.timeZone, from));
  const endMs = to === undefined ? theirs.endMs : Math.min(theirs.endMs, startOfDay(theirs.timeZone, to));
  if (startMs >= endMs) throw new ExportError('the export has nothing between the first day and the end day');
  return { startMs, endMs };
}

/** The part of an account between two of the vendor's days. @throws ExportError */
export function limitAccount(account: VendorAccount, days: Parameters<typeof limitSpan>[1]): VendorAccount {
  const whole = account.kind === 'usage' ? account.usage : account.costs;
  const span = limitSpan(whole, days);
  const isInside = ({ startMs }: { readonly startMs: number }): boolean => startMs >= span.startMs && startMs < span.endMs;
  return account.kind === 'usage'
    ? { kind: 'usage', usage: { ...account.usage, ...span, rows: account.usage.rows.filter(isInside) } }
    : { kind: 'costs', costs: { ...account.costs, ...span, costs: account.costs.costs.filter(isInside) } };
}

/**
 * The same account with one row for each model and day (and item): exports have further groups, such as projects, which
 * the comparison adds up anyway.
 * @throws ExportError if it still has more than `accountRowsMax` rows
 */
export function condenseAccount(account: VendorAccount): VendorAccount {
  if (account.kind === 'usage') return { kind: 'usage', usage: { ...account.usage, rows: checkRows(condenseUsage(account.usage)) } };
  return { kind: 'costs', costs: { ...account.costs, costs: checkRows(condenseCosts(account.costs)) } };
}

function checkRows<Row>(rows: readonly Row[]): readonly Row[] {
  if (rows.length <= accountRowsMax) return rows;
  throw new ExportError(`the export has ${rows.length} combinations of model and day; at most ${accountRowsMax} can be compared at once`);
}

/** The rows of a bucket have one time, and finding its day takes longer than everything else. */
function rememberDays(timeZone: string): (ms: number) => string {
  const days = new Map<number, string>();
  return (ms) => days.getOrInsertComputed(ms, () => dayIn(timeZone, ms));
}

function condenseUsage({ rows, timeZone }: VendorUsage): readonly VendorUsageRow[] {
  const dayOf = rememberDays(timeZone);
  const cells = new Map<string, { model: string; startMs: number; counts: Partial<Record<UsageClass, number>> }>();
  for (const { model, startMs, counts } of rows) {
    const cell = cells.getOrInsertComputed(`${dayOf(startMs)}\n${model}`, () => ({ model, startMs, counts: {} }));
    cell.startMs = Math.min(cell.startMs, startMs);
    for (const usageClass of usageClasses) {
      const count = counts[usageClass];
      if (count !== undefined) cell.counts[usageClass] = (cell.counts[usageClass] ?? 0) + count;
    }
  }
  return [...cells.values()];
}

function condenseCosts({ costs, timeZone }: VendorCosts): readonly VendorCost[] {
  const dayOf = rememberDays(timeZone);
  const cells = new Map<string, VendorCost>();
  for (const cost of costs) {
    const key = `${dayOf(cost.startMs)}\n${cost.model}\n${cost.item}`;
    const known = cells.get(key);
    cells.set(key, known === undefined ? cost : { ...known, usd: add(known.usd, cost.usd) });
  }
  return [...cells.values()];
}

/** An account as JSON text. */
export function encodeAccount(account: VendorAccount): string {
  return JSON.stringify(account, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

/** Reads the text of encodeAccount. */
export function decodeAccount(text: string): VendorAccount {
  // Written by encodeAccount.
  const account = parseJson(text) as unknown as VendorAccount;
  if (account.kind === 'usage') return account;
  const whole = (value: unknown): bigint => BigInt(String(value).replace(/n$/, ''));
  const costs = account.costs.costs.map((cost) => ({
    ...cost,
    usd: { numerator: whole(cost.usd.numerator), denominator: whole(cost.usd.denominator) },
  }));
  return { kind: 'costs', costs: { ...account.costs, costs } };
}
