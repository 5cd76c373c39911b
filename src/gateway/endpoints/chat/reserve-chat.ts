import type { ApiKey } from '../../../accounts/api-key.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import { reserveCall, type TakenLimits } from '../../admission/limits/reserve-call.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import { takeChatCredit } from './chat-credit.ts';
import type { ChatServices } from './chat-services.ts';
import type { IncomingCall } from './incoming-call.ts';
import { needsToolLoop } from './tool-loop/run-tool-loop.ts';

/** Reserves the call's share of its limits. Token counts are not limited. @throws GatewayError `rate_limited` */
export function takeLimits(
  { limiter, clock }: ChatServices,
  { operation, dialect }: IncomingCall,
  query: { readonly settings: GatewaySettings; readonly caller: ApiKey; readonly facts: CallFacts; readonly target: Target | undefined },
): TakenLimits | Promise<TakenLimits> | undefined {
  if (operation === 'count-tokens') return undefined;
  const { settings, caller, facts, target } = query;
  return reserveCall({ limiter, clock, voice: dialect.voice, caller, perKey: settings.perKey, facts, model: target?.model });
}

/** Holds the most that the call may cost. Token counts are free. @throws GatewayError if that is not available */
export function holdCredit(
  gateway: ChatServices,
  { operation, dialect }: IncomingCall,
  purchase: Omit<Parameters<typeof takeChatCredit>[1], 'isLoop'>,
): CallCredit | undefined | Promise<CallCredit | undefined> {
  if (operation === 'count-tokens') return undefined;
  return takeChatCredit(gateway, { ...purchase, isLoop: () => needsToolLoop(gateway, { ...purchase, dialect }) });
}
