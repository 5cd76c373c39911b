import type { ChargedDay, ComparedCost, CostReconciliation } from '../../billing/reconciliation/cost-reconciliation.ts';
import type { VendorCosts } from '../../billing/reconciliation/vendor-costs.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { inert } from './usage/terminal-text.ts';
import { alignColumns } from './with-accounts.ts';

/** Vendors round their amounts: differences of less than a hundred-thousandth of a dollar do not count. */
const roundingNanoUsd = 10_000n;

const sizeOf = (nanoUsd: bigint): bigint => (nanoUsd < 0n ? -nanoUsd : nanoUsd);

/** The difference in percent of the greater of both amounts. */
function percentOf({ listNanoUsd, theirNanoUsd, differenceNanoUsd }: ComparedCost): number {
  const greater = sizeOf(listNanoUsd) > sizeOf(theirNanoUsd) ? sizeOf(listNanoUsd) : sizeOf(theirNanoUsd);
  return greater === 0n ? 0 : (Number(differenceNanoUsd) * 100) / Number(greater);
}

/** Whether a difference is greater than rounding explains, and than `tolerance` percent of the greater amount. */
export function isCostOver(compared: ComparedCost, tolerance: number): boolean {
  return sizeOf(compared.differenceNanoUsd) >= roundingNanoUsd && Math.abs(percentOf(compared)) > tolerance;
}

/** A table of the differences for people, with the sums of both sides below. */
export function describeCosts(reconciliation: CostReconciliation, theirs: VendorCosts, tolerance: number): string {
  const costs = reconciliation.costs();
  const differing = costs.filter(({ differenceNanoUsd }) => sizeOf(differenceNanoUsd) >= roundingNanoUsd);
  const rows = differing.map((cost) => [
    cost.day,
    inert(cost.model),
    inert(cost.item),
    usdDecimal(cost.listNanoUsd),
    usdDecimal(cost.theirNanoUsd),
    signed(usdDecimal(cost.differenceNanoUsd)),
    signed(String(Math.round(percentOf(cost) * 100) / 100)),
    isCostOver(cost, tolerance) ? '' : 'tolerated',
  ]);
  return [
    ...(rows.length === 0 ? [] : alignColumns([['DAY', 'MODEL', 'WHAT', 'OURS', 'THEIRS', 'DIFFERENCE', '%', ''], ...rows])),
    `${costs.length - differing.length} of ${costs.length} costs agree (USD, days of ${theirs.timeZone}; OURS is the ledger's usage at list price)`,
    describeSums(costs, reconciliation.charged()),
    ...(theirs.unread.length === 0 ? [] : ['Not compared, because Weir does not read these:']),
    ...theirs.unread.map((name) => `  ${inert(name)}`),
  ].join('\n');
}

function describeSums(costs: readonly ComparedCost[], charged: readonly ChargedDay[]): string {
  const list = costs.reduce((sum, { listNanoUsd }) => sum + listNanoUsd, 0n);
  const their = costs.reduce((sum, { theirNanoUsd }) => sum + theirNanoUsd, 0n);
  const ours = charged.reduce((sum, { chargedNanoUsd }) => sum + chargedNanoUsd, 0n);
  return `in all ${usdDecimal(list)} at list price, ${usdDecimal(their)} by the vendor, and users were charged ${usdDecimal(ours)}`;
}

/** The whole comparison as JSON. */
export function writeCosts(reconciliation: CostReconciliation, theirs: VendorCosts, tolerance: number): string {
  const { timeZone, startMs, endMs, unread } = theirs;
  const report = {
    time_zone: timeZone,
    from: new Date(startMs).toISOString(),
    to: new Date(endMs).toISOString(),
    costs: reconciliation.costs().map((cost) => ({
      day: cost.day,
      model: cost.model,
      item: cost.item,
      ours_usd: usdDecimal(cost.listNanoUsd),
      theirs_usd: usdDecimal(cost.theirNanoUsd),
      difference_usd: usdDecimal(cost.differenceNanoUsd),
      over_tolerance: isCostOver(cost, tolerance),
    })),
    charged: reconciliation.charged().map(({ day, model, chargedNanoUsd }) => ({ day, model, charged_usd: usdDecimal(chargedNanoUsd) })),
    unread,
  };
  return JSON.stringify(report, undefined, 2);
}

const signed = (decimal: string): string => (decimal.startsWith('-') || decimal === '0' ? decimal : `+${decimal}`);
