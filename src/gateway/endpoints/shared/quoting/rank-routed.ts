import type { CallFacts } from '../../../../inference/call-facts.ts';
import { alwaysHealthy } from '../../../attempts/health/health.ts';
import { rankSuitable, type Wanted } from '../../../attempts/routing/rank-targets.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { AttemptServices } from '../../../attempts/services.ts';
import type { QuoteTarget } from './quoted-call.ts';

/**
 * The targets of a call that is not a chat, best first and whatever their health; never empty.
 * @throws GatewayError
 */
export function rankRouted(
  { gateway, settings, caller, headers }: QuoteTarget<Pick<AttemptServices, 'clock'>>,
  facts: CallFacts,
  requirements: Wanted,
): readonly Target[] {
  const nowMs = gateway.clock.monotonicMs();
  const call = { table: settings.routing, facts, headers, caller, health: alwaysHealthy, nowMs, random: () => 0 };
  return rankSuitable(call, requirements);
}
