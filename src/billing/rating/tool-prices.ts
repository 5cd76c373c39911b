import type { ToolUsage } from '../../inference/usage.ts';
import type { Charge, ChargeLine } from '../ledger/call-entry.ts';
import { recomputeAmount } from './recompute-amount.ts';

/** What one use of a tool costs that the gateway runs, in USD as decimal strings. Absent: nothing. */
export type ToolPrices = {
  readonly webSearch?: string;
  readonly fileSearch?: string;
  readonly codeExecution?: string;
  readonly pageRead?: string;
};

const meters = [
  ['gateway_web_search', 'webSearches', 'webSearch'],
  ['gateway_file_search', 'fileSearches', 'fileSearch'],
  ['gateway_code_execution', 'codeExecutions', 'codeExecution'],
  ['gateway_page_read', 'pagesRead', 'pageRead'],
] as const satisfies readonly (readonly [meter: string, count: keyof ToolUsage, price: keyof ToolPrices])[];

/** Charges what tools did. What is free has a line too: the receipt tells what was done. */
export function rateTools(usage: ToolUsage, prices: ToolPrices, multipliers?: ChargeLine['multipliers']): Charge {
  const lines = meters.flatMap(([meter, count, price]) => {
    const quantity = usage[count] ?? 0;
    const line = { meter, quantity, unitPrice: prices[price] ?? '0', per: 1 };
    return quantity === 0 ? [] : [multipliers === undefined ? line : { ...line, multipliers }];
  });
  return { amountNanoUsd: recomputeAmount(lines), lines, priceId: 'gateway/tools' };
}
