import type { Usage } from '../../inference/usage.ts';
import type { Charge } from '../ledger/call-entry.ts';
import type { CostBounds, PlannedCall, RatedCall } from './rating.ts';

/** Bounds of what a call may cost, by rating it as it would be if each of its input counts were of the dearest kind. */
export function boundCost(rate: (call: RatedCall) => Charge, call: PlannedCall): CostBounds {
  const amount = (usage: Usage): bigint => rate({ ...call, usage }).amountNanoUsd;
  const { inputTokens = 0, ...rest } = call.most;
  const kinds: readonly Usage[] = [
    call.most,
    call.expected,
    { ...rest, cacheReadTokens: inputTokens },
    { ...rest, cacheWrite5mTokens: inputTokens },
    { ...rest, cacheWrite1hTokens: inputTokens },
  ];
  const maximumNanoUsd = kinds.map(amount).reduce((dearest, other) => (other > dearest ? other : dearest));
  return { minimumNanoUsd: amount({}), expectedNanoUsd: amount(call.expected), maximumNanoUsd };
}
