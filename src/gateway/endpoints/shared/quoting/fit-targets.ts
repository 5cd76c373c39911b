import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { QuotedTarget } from './quoted-call.ts';

/**
 * The targets that can express a request. Other targets are skipped.
 * @param targets at least one
 * @throws GatewayError if no target can express it: the error of the first
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
