import type { ResponseKeeper } from '../../../../conversations/response-store.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import { type RankedCall, rankTargets } from '../../../attempts/routing/rank-targets.ts';
import type { Target } from '../../../attempts/routing/target.ts';

/**
 * Ranks the targets of a call whose conversation one upstream stores: that one first while it works, then the others,
 * which get the whole conversation.
 * @throws GatewayError if no target can serve the call
 */
export function rankKeeperFirst(
  call: Omit<RankedCall, 'facts' | 'keptAt'>,
  facts: CallFacts,
  { upstream, credential }: ResponseKeeper,
): readonly Target[] {
  const ranked = rankTargets({ ...call, facts });
  const isKeeper = (target: Target): boolean => target.upstream.id === upstream && target.upstream.credentialId === credential;
  const at = ranked.findIndex(isKeeper);
  if (at >= 0) return [...ranked.slice(at, at + 1), ...ranked.slice(0, at), ...ranked.slice(at + 1)];
  return ranked;
}
