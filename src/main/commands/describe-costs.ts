import type { ChargedDay, ComparedCost } from '../../billing/reconciliation/cost-reconciliation.ts';
import { costPercentOf, isCostDifferent, isCostOver } from '../../billing/reconciliation/tolerance.ts';
import type { VendorCosts } from '../../billing/reconciliation/vendor-costs.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { inert } from './usage/terminal-text.ts';
import { alignColumns } from './with-accounts.ts';

/** Compared costs, and what the export says about itself. */
export type DescribedCosts = Pick<VendorCosts, 'timeZone' | 'startMs' | 'endMs' | 'unread'> & {
  readonly costs: readonly ComparedCost[];
  readonly charged: readonly ChargedDay[];
};

/** A table of the differences for people, with the sums of both sides below. */
export function describeCosts({ costs, charged, timeZone, unread }: DescribedCosts, tolerance: number): string {
  const differing = costs.filter(isCostDifferent);
  const rows = differing.map((cost) => [
    cost.day,
    inert(cost.model),
    inert(cost.item),
    usdDecimal(cost.listNanoUsd),
    usdDecimal(cost.theirNanoUsd),
    signed(usdDecimal(cost.differenceNanoUsd)),
    signed(String(Math.round(costPercentOf(cost) * 100) / 100)),
    isCostOver(cost, tolerance) ? '' : 'tolerated',
  ]);
  return [
    ...(rows.length === 0 ? [] : alignColumns([['DAY', 'MODEL', 'WHAT', 'OURS', 'THEIRS', 'DIFFERENCE', '%', ''], ...rows])),
    `${costs.length - differing.length} of ${costs.length} costs agree (USD, days of ${timeZone}; OURS is the ledger's usage at list price)`,
    describeSums(costs, charged),
    ...(unread.length === 0 ? [] : ['Not compared, because Weir does not read these:']),
    ...unread.map((name) => `  ${inert(name)}`),
  ].join('\n');
}

function describeSums(costs: readonly ComparedCost[], charged: readonly ChargedDay[]): string {
  const list = costs.reduce((sum, { listNanoUsd }) => sum + listNanoUsd, 0n);
  const their = costs.reduce((sum, { theirNanoUsd }) => sum + theirNanoUsd, 0n);
  const ours = charged.reduce((sum, { chargedNanoUsd }) => sum + chargedNanoUsd, 0n);
  return `in all ${usdDecimal(list)} at list price, ${usdDecimal(their)} by the vendor, and users were charged ${usdDecimal(ours)}`;
}

/** The whole comparison as JSON. */
export function writeCosts({ costs, charged, timeZone, startMs, endMs, unread }: DescribedCosts, tolerance: number): string {
  const report = {
    time_zone: timeZone,
    from: new Date(startMs).toISOString(),
    to: new Date(endMs).toISOString(),
    costs: costs.map((cost) => ({
      day: cost.day,
      model: cost.model,
      item: cost.item,
      ours_usd: usdDecimal(cost.listNanoUsd),
      theirs_usd: usdDecimal(cost.theirNanoUsd),
      difference_usd: usdDecimal(cost.differenceNanoUsd),
      over_tolerance: isCostOver(cost, tolerance),
    })),
    charged: charged.map(({ day, model, chargedNanoUsd }) => ({ day, model, charged_usd: usdDecimal(chargedNanoUsd) })),
    unread,
  };
  return JSON.stringify(report, undefined, 2);
}

const signed = (decimal: string): string => (decimal.startsWith('-') || decimal === '0' ? decimal : `+${decimal}`);
