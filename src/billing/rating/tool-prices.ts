import { toolMeterNames, toolMeters, type ToolPrice } from '../../inference/meters.ts';
import type { ToolUsage } from '../../inference/usage.ts';
import type { Charge, ChargeLine } from '../ledger/call-entry.ts';
import { recomputeAmount } from './recompute-amount.ts';

/** The price of one use of each tool of the gateway, in USD as decimal strings. Absent: free. */
export type ToolPrices = { readonly [Price in ToolPrice]?: string };

/** Charges the use of tools. A free use has a line too, so that the receipt shows it. */
export function rateTools(usage: ToolUsage, prices: ToolPrices, multipliers?: ChargeLine['multipliers']): Charge {
  const lines = toolMeterNames.flatMap((name) => {
    const { line: meter, price } = toolMeters[name];
    const quantity = usage[name] ?? 0;
    const line = { meter, quantity, unitPrice: prices[price] ?? '0', per: 1 };
    return quantity === 0 ? [] : [multipliers === undefined ? line : { ...line, multipliers }];
  });
  return { amountNanoUsd: recomputeAmount(lines), lines, priceId: 'gateway/tools' };
}
