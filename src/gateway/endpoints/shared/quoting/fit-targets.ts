import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { QuotedTarget } from './quoted-call.ts';

/**
 * The targets to which a request can be said: what one cannot take, another may.
 * @param targets at least one
 * @throws GatewayError where none can take it: that of the first
 */
export function fitTargets(targets: readonly Target[], fit: (target: Target) => QuotedTarget): readonly QuotedTarget[] {
  const fitted: QuotedTarget[] = [];
  let refusal: GatewayError | undefined;
  for (const target of targets) {
    try {
      fitted.push(fit(target));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refusal ??= error;
    }
  }
  if (fitted.length === 0) throw refusal ?? new Error('a request was routed to no target');
  return fitted;
}
